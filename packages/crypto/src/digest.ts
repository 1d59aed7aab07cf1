import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";

type Encoding = "base64url" | "base64" | "hex";

export const sha256 = (data: string | Uint8Array, encoding: Encoding = "base64url"): string =>
  hash("sha256", data, encoding);

export const hmacSha256 = (
  key: string | Uint8Array,
  data: string | Uint8Array,
  encoding: Encoding = "base64url",
): string => createHmac("sha256", key).update(data).digest(encoding);

/**
 * Compares two texts in a time that doesn't depend on where they differ. Use it for all tokens, MACs and signatures;
 * their lengths are not secret.
 */
export function equalInConstantTime(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** An unguessable token: 256 random bits, base64url. */
export const randomToken = (): string => randomBytes(32).toString("base64url");
