import { LRUCache } from "lru-cache";
import type { Peers } from "../workers/peers.ts";
import type { HeldStreams } from "./held-streams.ts";

const maxRemembered = 10_000;
/** A stream may be held again once the server has gone back to sleep, so the announcement is repeated. */
const rememberMs = 2000;

/**
 * Sessions that were opened while their server was asleep, and that a request has taken to it since. Their streams are
 * released here and in the other workers, each of which may hold some.
 */
export class OpenedSessions {
  readonly #streams: HeldStreams;
  readonly #peers: Peers;
  readonly #announced = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberMs });

  constructor(parts: { streams: HeldStreams; peers: Peers }) {
    this.#streams = parts.streams;
    this.#peers = parts.peers;
  }

  /** A request of the session is about to be sent to its server. Streams that open later find the server awake. */
  announce(session: string): void {
    this.#streams.release(session);
    if (this.#announced.get(session)) return;
    this.#announced.set(session, true);
    if (this.#peers.count > 0) void this.#peers.ask({ kind: "opened", session });
  }
}
