import { deriveKey, openWithKeyId, sealWithKeyId } from "@towpath/crypto";

/**
 * Authenticated data of a ciphertext: with another project, name, version or environment it doesn't decrypt (KEY-2).
 */
type SecretBinding = {
  readonly projectId: string;
  readonly keyName: string;
  readonly version: number;
  readonly environments: readonly string[];
};

export type SecretBox = {
  /** `keyId.nonce.ciphertext.tag`, each base64url. */
  encrypt(value: string, binding: SecretBinding): string;
  /** @throws for another key, another binding or a modified ciphertext */
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
        throw new Error(`secret ${row.keyName} can't be decrypted: ${error instanceof Error ? error.message : error}`);
      }
    },
  };
}

function contextOf(binding: SecretBinding): string {
  const { projectId, keyName, version, environments } = binding;
  return JSON.stringify(["towpath/secret/v1", projectId, keyName, version, environments.toSorted()]);
}
