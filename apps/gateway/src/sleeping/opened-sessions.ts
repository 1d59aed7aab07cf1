import { LRUCache } from "lru-cache";
import type { Announce } from "../workers/news.ts";
import type { HeldStreams } from "./held-streams.ts";

const maxRemembered = 10_000;
/** A stream may be held again once the server has gone back to sleep, so the announcement is repeated. */
const rememberMs = 2000;

/**
 * Sessions that were opened while their server was asleep, and whose requests have reached it since. Their streams are
 * released here and in all other processes, each of which may hold some, and all of them learn which process holds the
 * session, which ends with that process like any other. A process that starts later doesn't know.
 */
export class OpenedSessions {
  readonly #streams: HeldStreams;
  readonly #announce: Announce;
  readonly #announced = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberMs });
  /** The instance that holds a session. */
  readonly #instances = new LRUCache<string, string>({ max: maxRemembered });

  constructor(parts: { streams: HeldStreams; announce: Announce }) {
    this.#streams = parts.streams;
    this.#announce = parts.announce;
  }

  /** A request of the session is about to be sent to its server. Streams that open later find the server awake. */
  announce(session: string): void {
    this.#streams.release(session);
    if (this.#announced.get(session)) return;
    this.#announced.set(session, true);
    void this.#announce({ kind: "opened", session, instanceId: null });
  }

  /** The instance that holds a session; null: unknown. */
  instanceOf(session: string): string | null {
    return this.#instances.get(session) ?? null;
  }

  /** A request of the session was sent to this instance, which holds it from now on. */
  sentTo(session: string, instanceId: string): void {
    if (this.#instances.get(session) !== undefined) return;
    this.#instances.set(session, instanceId);
    void this.#announce({ kind: "opened", session, instanceId });
  }

  /** Another process's announcement. */
  announced({ session, instanceId }: Opened): void {
    if (instanceId === null) this.#streams.release(session);
    else this.#instances.set(session, instanceId);
  }
}

/** `instanceId`: null while it isn't known yet which one holds the session. */
export type Opened = { readonly session: string; readonly instanceId: string | null };
