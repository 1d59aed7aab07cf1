import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";

type Encoding = "base64url" | "hex";

export const sha256 = (text: string, encoding: Encoding = "base64url"): string => hash("sha256", text, encoding);

export const hmacSha256 = (
  key: string | Uint8Array,
  data: string | Uint8Array,
  encoding: Encoding = "base64url",
): string => createHmac("sha256", key).update(data).digest(encoding);

/**
 * Whether two texts are equal, in a time that says nothing of where they differ. The only comparison for tokens, MACs
 * and signatures, whose lengths are no secret.
 */
export function equalInConstantTime(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** 256 random bits, base64url: a token that nobody can guess. */
export const randomToken = (): string => randomBytes(32).toString("base64url");
