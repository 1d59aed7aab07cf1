import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/** What a ciphertext is bound to: moved to another project, name, version or environment it does not open (KEY-2). */
export type SecretBinding = {
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

/** AES-256-GCM (NIST SP 800-38D) with a key derived from the instance's root secret, TOWPATH_SECRET. */
export function createSecretBox(rootSecret: string): SecretBox {
  const key = new Uint8Array(hkdfSync("sha256", rootSecret, "", "towpath/secrets/v1", 32));
  const keyId = createHash("sha256").update(key).digest("base64url").slice(0, 8);
  return {
    encrypt(value, binding) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(boundTo(binding));
      const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
      return [keyId, ...[nonce, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"))].join(".");
    },
    decrypt(row) {
      const [usedKey, nonce, sealed, tag, ...rest] = row.ciphertext.split(".");
      if (usedKey !== keyId) throw new Error(`secret ${row.keyName} was encrypted with another key`);
      if (!nonce || !sealed || !tag || rest.length > 0) throw new Error(`secret ${row.keyName} is damaged`);
      const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"), { authTagLength: 16 })
        .setAAD(boundTo(row))
        .setAuthTag(Buffer.from(tag, "base64url"));
      return Buffer.concat([decipher.update(Buffer.from(sealed, "base64url")), decipher.final()]).toString("utf8");
    },
  };
}

function boundTo(binding: SecretBinding): Buffer {
  const { projectId, keyName, version, environments } = binding;
  return Buffer.from(JSON.stringify(["towpath/secret/v1", projectId, keyName, version, environments.toSorted()]));
}
