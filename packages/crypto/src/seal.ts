import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Key } from "./keys.ts";

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a text with AES-256-GCM (NIST SP 800-38D): `nonce.ciphertext.tag`, each base64url. `context` names the
 * text's owner; it is authenticated and not stored, so a ciphertext that is moved elsewhere does not open.
 */
export function seal(key: Key, text: string, context: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return [nonce, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url")).join(".");
}

/** @throws for another key, another context, or modified data; never returns an empty text instead */
export function open(key: Key, sealed: string, context: string): string {
  const [nonce, ciphertext, tag, ...more] = sealed.split(".");
  if (!nonce || ciphertext === undefined || !tag || more.length > 0) throw new Error("the ciphertext is damaged");
  const decipher = createDecipheriv("aes-256-gcm", key.bytes, Buffer.from(nonce, "base64url"), {
    authTagLength: tagBytes,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(Buffer.from(tag, "base64url"));
  return Buffer.concat([decipher.update(Buffer.from(ciphertext, "base64url")), decipher.final()]).toString("utf8");
}

/** Like `seal`, with the key's id in front: for data that outlives keys. */
export const sealWithKeyId = (key: Key, text: string, context: string): string =>
  `${key.id}.${seal(key, text, context)}`;

/** @throws like `open`, with a separate error for a text that was sealed with another key */
export function openWithKeyId(key: Key, sealed: string, context: string): string {
  const [keyId = "", ...rest] = sealed.split(".");
  if (keyId !== key.id) throw new Error(`sealed with another key (${keyId || "none"}, not ${key.id})`);
  return open(key, rest.join("."), context);
}
