import { masterKeyOf, openWithKeyId, sealWithKeyId } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { ensureDataKey } from "./data-keys.ts";
import type { DataKey, SecretBinding, SecretBox } from "./secret-box.ts";

/** A secret of the repository that a project is built from, and where it may be sent. */
export type SourceSecret = {
  readonly organizationId: string;
  readonly projectId: string;
} & (
  | {
      readonly purpose: "credential";
      /** The repository's URL: the credential is bound to its origin, and opens for no other. */
      readonly url: string;
      readonly version: number;
    }
  | { readonly purpose: "webhook" }
  /** A token that posts states of builds; bound to the origin of the repository's URL too. */
  | { readonly purpose: "status"; readonly url: string }
);

const bindingOf = (secret: SourceSecret): SecretBinding => ({
  organizationId: secret.organizationId,
  projectId: secret.projectId,
  secretId: secret.projectId,
  keyName: `source ${secret.purpose}`,
  version: secret.purpose === "credential" ? secret.version : 0,
  environments: secret.purpose === "webhook" ? [] : [originOf(secret.url)],
});

/** `URL.origin` has none for ssh. */
const originOf = (url: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
};

/** Encrypts under the project's data key, which is created when there is none. */
export async function sealSourceSecret(
  tx: Transaction,
  box: SecretBox,
  secret: SourceSecret,
  value: string,
): Promise<string> {
  const dataKey = await ensureDataKey(tx, box, secret);
  return box.encrypt(value, dataKey, bindingOf(secret));
}

/** @throws Error for another origin, project or version, and for a key that doesn't fit */
export function openSourceSecret(
  box: SecretBox,
  dataKey: DataKey | null,
  secret: SourceSecret & { readonly ciphertext: string },
): string {
  return box.decrypt({ ...bindingOf(secret), ciphertext: secret.ciphertext }, dataKey);
}

/**
 * Seals a deploy key from its creation until the creation of the project that uses it: a browser keeps it meanwhile. It
 * opens for one organization.
 */
export const sealDeployKey = ({ masterKeys }: SecretBox, organizationId: string, value: string): string =>
  sealWithKeyId(masterKeys.current, value, contextOfDeployKey(organizationId));

/** @throws Error for another organization, and for modified data */
export const openDeployKey = ({ masterKeys }: SecretBox, organizationId: string, sealed: string): string =>
  openWithKeyId(masterKeyOf(masterKeys, sealed.split(".", 1)[0] ?? ""), sealed, contextOfDeployKey(organizationId));

const contextOfDeployKey = (organizationId: string) => JSON.stringify(["towpath/deploy-key/v1", organizationId]);
