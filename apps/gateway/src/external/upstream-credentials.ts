import { openUpstreamCredential, type SecretBox } from "@towpath/secrets";
import { createRedactor, type Redactor } from "@towpath/secrets/redaction";
import { LRUCache } from "lru-cache";
import { credentialsUnavailable } from "../gateway-error.ts";
import type { NoteDecryption } from "../read-model/decryptions.ts";
import type { ExternalTarget, Route } from "../read-model/routes.ts";

/** The header that a server elsewhere gets, and what removes it from log rows. */
export type OpenedCredential = { readonly header: string; readonly value: string; readonly redactor: Redactor };

type Sealed = {
  readonly route: Route;
  readonly target: ExternalTarget;
  readonly credential: NonNullable<ExternalTarget["credential"]>;
};

const maxOpened = 1000;

/**
 * Credentials of external servers, opened at their first use. The audit log knows of each before its value is (KEY-2);
 * without a database none is opened that wasn't before.
 */
export class UpstreamCredentials {
  readonly #box: SecretBox;
  readonly #note: NoteDecryption;
  readonly #opened: LRUCache<string, OpenedCredential, Sealed>;

  constructor({ box, note }: { box: SecretBox; note: NoteDecryption }) {
    this.#box = box;
    this.#note = note;
    this.#opened = new LRUCache({ max: maxOpened, fetchMethod: (_key, _stale, { context }) => this.#open(context) });
  }

  /** Null: the server gets none. @throws GatewayError 503 when it can't be opened */
  find(route: Route, target: ExternalTarget): OpenedCredential | null | Promise<OpenedCredential> {
    const { credential, url } = target;
    if (credential === null) return null;
    // The origin is part of what it is bound to.
    const key = `${credential.ciphertext} ${new URL(url).origin}`;
    return this.#opened.get(key) ?? this.#opened.forceFetch(key, { context: { route, target, credential } });
  }

  async #open({ route, target, credential }: Sealed): Promise<OpenedCredential> {
    const { externalServerId, url } = target;
    const { header, ciphertext, version, dataKey } = credential;
    const owner = { organizationId: route.organizationId, projectId: route.projectId };
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
