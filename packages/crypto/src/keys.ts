import { createHash, hkdfSync } from "node:crypto";

/**
 * Each purpose has its own key, so that a leaked key doesn't compromise the others. Never change these texts:
 * everything that was stored under the key would become unreadable. Add a new purpose beside the old one instead.
 */
export const keyPurposes = {
  /** Cookies and tokens of better-auth. */
  session: "towpath/session/v1",
  /** The secret part of cookie names on plain http. */
  "cookie-name": "towpath/cookie/v1",
  /** Short-lived secrets of a session, such as a user's GitHub token. */
  "session-secret": "towpath/session-secret/v1",
  /** Master keys: they seal data keys, and sealed values of variables before there were data keys. */
  "project-secret": "towpath/secrets/v1",
  /** MCP session ids that clients see. */
  "mcp-session": "towpath/mcp-session/v1",
  /** Ids that clients see for tasks and requests of a portal's servers. */
  "portal-member": "towpath/portal-member/v1",
  /** Calls of the runner's API over the network. */
  "runner-api": "towpath/runner-api/v1",
  /** What pods that wait for a server know the runner by. */
  "waiting-pods": "towpath/waiting-pods/v1",
  /** The successor of a refresh token, derived from the token itself instead of the root secret. */
  "refresh-token": "towpath/refresh-token/v1",
  /** The private halves of the keys that sign our tokens. */
  "signing-keys": "towpath/signing-keys/v1",
  /** What a gateway keeps on disk for an outage. */
  "gateway-state": "towpath/gateway-state/v1",
  /** Email messages that wait to be sent. */
  mail: "towpath/mail/v1",
  /** Results of calls that wait for their client to ask again. */
  "kept-result": "towpath/kept-result/v1",
  /** Hashes of the arguments of calls that may be asked for again. */
  "kept-call": "towpath/kept-call/v1",
  /** Ids of tasks that the gateway offers for servers without them. */
  "task-id": "towpath/task-id/v1",
  /** Sampled calls and the reports of their replays. */
  "call-replay": "towpath/call-replay/v1",
} as const;
export type KeyPurpose = keyof typeof keyPurposes;

export type Key = {
  /** Eight characters that identify the key; safe to store and show. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
};

/** The key of a purpose, derived from the instance's root secret, TOWPATH_SECRET (HKDF with SHA-256, RFC 5869). */
export function deriveKey(rootSecret: string, purpose: KeyPurpose): Key {
  const bytes = new Uint8Array(hkdfSync("sha256", rootSecret, "", keyPurposes[purpose], 32));
  return { id: createHash("sha256").update(bytes).digest("base64url").slice(0, 8), bytes };
}
