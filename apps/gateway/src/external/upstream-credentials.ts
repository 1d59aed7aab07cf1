import { openUpstreamCredential, type SecretBox } from "@towpath/secrets";
import { createRedactor, type Redactor } from "@towpath/secrets/redaction";
import { LRUCache } from "lru-cache";
import { credentialsUnavailable } from "../gateway-error.ts";
import type { NoteDecryption } from "../read-model/decryptions.ts";
import type { ExternalTarget, Route } from "../read-model/routes.ts";

/** The header that a server elsewhere gets, and what removes it from log rows. */
export type OpenedCredential = { readonly header: string; readonly value: string; readonly redactor: Redactor };

const maxOpened = 1000;

/**
 * Credentials of external servers, opened at their first use. The audit log knows of each before its value is (KEY-2);
 * without a database none is opened that wasn't before.
 */
export class UpstreamCredentials {
  readonly #box: SecretBox;
  readonly #note: NoteDecryption;
  readonly #opened = new LRUCache<string, OpenedCredential>({ max: maxOpened });
  readonly #opening = new Map<string, Promise<OpenedCredential>>();

  constructor({ box, note }: { box: SecretBox; note: NoteDecryption }) {
    this.#box = box;
    this.#note = note;
  }

  /** Null: the server gets none. @throws GatewayError 503 when it can't be opened */
  find(route: Route, target: ExternalTarget): OpenedCredential | null | Promise<OpenedCredential> {
    const { credential, url } = target;
    if (credential === null) return null;
    // The origin is part of what it is bound to.
    const key = `${credential.ciphertext} ${new URL(url).origin}`;
    const opened = this.#opened.get(key);
    if (opened) return opened;
    let opening = this.#opening.get(key);
    if (!opening) {
      opening = this.#open(route, target, credential)
        .then((found) => {
          this.#opened.set(key, found);
          return found;
        })
        .finally(() => this.#opening.delete(key));
      this.#opening.set(key, opening);
    }
    return opening;
  }

  async #open(
    { organizationId, projectId }: Route,
    { externalServerId, url }: ExternalTarget,
    { header, ciphertext, version, dataKey }: NonNullable<ExternalTarget["credential"]>,
  ): Promise<OpenedCredential> {
    const owner = { organizationId, projectId };
    try {
      await this.#note({ ...owner, subject: header, detail: { reason: "forwarding", version } });
    } catch {
      throw credentialsUnavailable();
    }
    const stored = { ...owner, externalServerId, url, header, version, ciphertext };
    const value = openUpstreamCredential(this.#box, { ...owner, ...dataKey }, stored);
    const token = value.split(" ").at(-1) ?? value;
    return { header, value, redactor: createRedactor({ credential: value, token }) };
  }
}
