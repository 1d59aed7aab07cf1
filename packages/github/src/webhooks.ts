import { equalInConstantTime, hmacSha256 } from "@towpath/crypto";
import {
  checkRunEventSchema,
  deleteEventSchema,
  installationEventSchema,
  installationRepositoriesEventSchema,
  pingEventSchema,
  pullRequestEventSchema,
  pushEventSchema,
  repositoryEventSchema,
  type WebhookEvent,
} from "./webhook.schema.ts";

/** The value of X-Hub-Signature-256 for a body: `sha256=` and 64 hex digits. */
export function signWebhook(secret: string, rawBody: Uint8Array | string): string {
  return `sha256=${hmacSha256(secret, rawBody, "hex")}`;
}

/**
 * Whether the body was signed with the secret (BLD-12). Pass the bytes as received: JSON that was parsed and serialized
 * again has another signature. Compares in constant time; an empty secret verifies nothing.
 */
export function verifyWebhook(
  secret: string,
  rawBody: Uint8Array | string,
  signature: string | null | undefined,
): boolean {
  if (secret === "" || !signature) return false;
  return equalInConstantTime(signWebhook(secret, rawBody), signature);
}

/**
 * Parses a verified body. `name` is the X-GitHub-Event header.
 *
 * @throws ZodError when the payload of a known event has an unexpected shape, SyntaxError when it is not JSON
 */
export function parseWebhook(name: string, rawBody: Uint8Array | string): WebhookEvent {
  const text = typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody);
  return parseWebhookPayload(name, JSON.parse(text));
}

/** The same for a payload that was stored as JSON. */
export function parseWebhookPayload(name: string, payload: unknown): WebhookEvent {
  switch (name) {
    case "push":
      return { event: name, payload: pushEventSchema.parse(payload) };
    case "pull_request":
      return { event: name, payload: pullRequestEventSchema.parse(payload) };
    case "installation":
      return { event: name, payload: installationEventSchema.parse(payload) };
    case "installation_repositories":
      return { event: name, payload: installationRepositoriesEventSchema.parse(payload) };
    case "delete":
      return { event: name, payload: deleteEventSchema.parse(payload) };
    case "repository":
      return { event: name, payload: repositoryEventSchema.parse(payload) };
    case "check_run":
      return { event: name, payload: checkRunEventSchema.parse(payload) };
    case "ping":
      return { event: name, payload: pingEventSchema.parse(payload) };
    default:
      return { event: "ignored", name };
  }
}
