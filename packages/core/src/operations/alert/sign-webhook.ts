import { randomBytes } from "node:crypto";
import { hmacSha256 } from "@towpath/crypto";

const prefix = "whsec_";

/** A signing secret as Standard Webhooks writes it: `whsec_` and 32 random bytes in base64. */
export const newSigningSecret = (): string => `${prefix}${randomBytes(32).toString("base64")}`;

/**
 * The headers of a signed webhook (Standard Webhooks 1.0). `secrets`: while one is replaced, both sign. Pure.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signedHeaders(
  secrets: readonly string[],
  message: { readonly id: string; readonly body: string; readonly at: Date },
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(message.at.getTime() / 1000);
  const content = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(prefix, ""), "base64");
    return `v1,${hmacSha256(key, content, "base64")}`;
  });
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
