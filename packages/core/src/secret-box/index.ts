import { deriveKey, openWithKeyId, sealWithKeyId } from "@towpath/crypto";

/** What a ciphertext is bound to: moved to another project, name, version or environment it does not open (KEY-2). */
type SecretBinding = {
  readonly projectId: string;
  readonly keyName: string;
  readonly version: number;
  readonly environments: readonly string[];
};

export type SecretBox = {
  /** `keyId.nonce.ciphertext.tag`, each base64url. */
  encrypt(value: string, binding: SecretBinding): string;
  /** @throws for another key, another binding or anything that was changed; never an empty value in their place. */
  decrypt(row: SecretBinding & { readonly ciphertext: string }): string;
};

export function createSecretBox(rootSecret: string): SecretBox {
  const key = deriveKey(rootSecret, "project-secret");
  return {
    encrypt: (value, binding) => sealWithKeyId(key, value, contextOf(binding)),
    decrypt(row) {
      try {
        return openWithKeyId(key, row.ciphertext, contextOf(row));
      } catch (error) {
        throw new Error(`secret ${row.keyName} does not decrypt: ${error instanceof Error ? error.message : error}`);
      }
    },
  };
}

function contextOf(binding: SecretBinding): string {
  const { projectId, keyName, version, environments } = binding;
  return JSON.stringify(["towpath/secret/v1", projectId, keyName, version, environments.toSorted()]);
}
