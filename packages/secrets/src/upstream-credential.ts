import type { Transaction } from "@towpath/db";
import { ensureDataKey } from "./data-keys.ts";
import type { DataKey, SecretBinding, SecretBox } from "./secret-box.ts";

/** A header for an external server, and where it may be sent. */
type UpstreamCredential = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly externalServerId: string;
  /** The server's URL: the credential is bound to its origin, and opens for no other. */
  readonly url: string;
  /** Name of the header, lower case. */
  readonly header: string;
  readonly version: number;
};

const bindingOf = (credential: UpstreamCredential): SecretBinding => ({
  organizationId: credential.organizationId,
  projectId: credential.projectId,
  secretId: credential.externalServerId,
  keyName: credential.header,
  version: credential.version,
  environments: [new URL(credential.url).origin],
});

/** Encrypts the header's value under the project's data key, which is created when there is none. */
export async function sealUpstreamCredential(
  tx: Transaction,
  box: SecretBox,
  credential: UpstreamCredential,
  value: string,
): Promise<string> {
  const dataKey = await ensureDataKey(tx, box, credential);
  return box.encrypt(value, dataKey, bindingOf(credential));
}

/**
 * The header's value.
 *
 * @throws Error for another origin, server or version, and for a key that doesn't fit
 */
export function openUpstreamCredential(
  box: SecretBox,
  dataKey: DataKey | null,
  credential: UpstreamCredential & { readonly ciphertext: string },
): string {
  return box.decrypt({ ...bindingOf(credential), ciphertext: credential.ciphertext }, dataKey);
}
