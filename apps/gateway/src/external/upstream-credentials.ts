import { openUpstreamCredential, type SecretBox } from "@towpath/secrets";
import { createRedactor, type Redactor } from "@towpath/secrets/redaction";
import { LRUCache } from "lru-cache";
import { credentialsUnavailable } from "../gateway-error.ts";
import type { AuditDecryption } from "../read-model/decryptions.ts";
import type { ExternalTarget, Route } from "../read-model/routes.ts";

/** The header for an external server, and what removes it from log rows. */
export type OpenedCredential = { readonly header: string; readonly value: string; readonly redactor: Redactor };

type Sealed = {
  readonly route: Route;
  readonly target: ExternalTarget;
  readonly credential: NonNullable<ExternalTarget["credential"]>;
};

const maxOpened = 1000;

/**
 * Credentials of external servers, opened at their first use. Each is audited before it is opened (KEY-2); without a
 * database no further ones are opened.
 */
export class UpstreamCredentials {
  readonly #box: SecretBox;
  readonly #audit: AuditDecryption;
  readonly #opened: LRUCache<string, OpenedCredential, Sealed>;

  constructor({ box, audit }: { box: SecretBox; audit: AuditDecryption }) {
    this.#box = box;
    this.#audit = audit;
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
      await this.#audit({ ...owner, subject: header, detail: { reason: "forwarding", version } });
    } catch {
      throw credentialsUnavailable();
    }
    const stored = { ...owner, externalServerId, url, header, version, ciphertext };
    const value = openUpstreamCredential(this.#box, { ...owner, ...dataKey }, stored);
    const token = value.split(" ").at(-1) ?? value;
    return { header, value, redactor: createRedactor({ credential: value, token }) };
  }
}
