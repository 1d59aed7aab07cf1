import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A session of the initialize era at one of a portal's servers. */
export type MemberSession = { readonly id: string | null; readonly protocolVersion: string };

/**
 * Sends to the session's server: a message (JSON-RPC without `jsonrpc`), or the end of the session. Resolves once it has
 * been sent, or failed.
 */
export type SendInSession = (message: Record<string, unknown> | "end") => Promise<unknown>;
export type OpenedMemberSession = { readonly session: MemberSession; readonly send: SendInSession };

/** A portal session's sessions at its servers, by project; `level`: of its log messages, set by the client. */
type Held = { readonly members: Map<string, Promise<OpenedMemberSession>>; level: string | null };

const maxSessions = 5000;
const idleMs = 30 * 60_000;
/** How long ended ids are refused: clients that missed the end may retry them until then. */
const endedMs = 24 * 3_600_000;

/**
 * Sessions at a portal's servers, opened with the first request that needs one. Each process has its own: the first
 * request of a portal session at another process opens another. All processes learn when a portal session ends, or its
 * log level changes.
 */
export class MemberSessions {
  readonly #held = new LRUCache<string, Held>({
    max: maxSessions,
    ttl: idleMs,
    updateAgeOnGet: true,
    dispose: (held, _key, reason) => {
      if (reason !== "set") endAll(held);
    },
  });
  readonly #ended = new LRUCache<string, true>({ max: maxSessions, ttl: endedMs });

  /** The session at a server; concurrent requests share one call of `open`. */
  find(key: string, projectId: string, open: () => Promise<OpenedMemberSession>): Promise<OpenedMemberSession> {
    const held = this.#of(key);
    const known = held.members.get(projectId);
    if (known) return known;
    const opening = open().then((opened) => {
      if (held.level !== null) void opened.send(levelRequest(held.level));
      return opened;
    });
    held.members.set(projectId, opening);
    opening.catch(() => this.#forget(held, projectId, opening));
    return opening;
  }

  /** Forgets a session that its server doesn't know any more. */
  forget(key: string, projectId: string): void {
    this.#held.peek(key)?.members.delete(projectId);
  }

  /** Sends to all servers where the portal session has one. */
  send(key: string, message: Record<string, unknown>): void {
    for (const opening of this.#held.get(key)?.members.values() ?? [])
      opening.then(({ send }) => send(message), ignore);
  }

  setLevel(key: string, level: string): void {
    this.#of(key).level = level;
    this.send(key, levelRequest(level));
  }

  /** Ends the sessions at all servers. The portal session is over for good. */
  end(key: string): void {
    this.#ended.set(key, true);
    this.#held.delete(key);
  }

  hasEnded(key: string): boolean {
    return this.#ended.has(key);
  }

  #of(key: string): Held {
    const known = this.#held.get(key);
    if (known) return known;
    const held: Held = { members: new Map(), level: null };
    this.#held.set(key, held);
    return held;
  }

  #forget({ members }: Held, projectId: string, opening: Promise<OpenedMemberSession>): void {
    if (members.get(projectId) === opening) members.delete(projectId);
  }
}

function endAll({ members }: Held): void {
  for (const opening of members.values()) opening.then(({ send }) => send("end"), ignore);
}

const ignore = () => {};
const levelRequest = (level: string) => ({ id: randomUUID(), method: "logging/setLevel", params: { level } });
