import {
  type Endpoint,
  endpointKey,
  isBacklogFull,
  isOtherInstance,
  type ServerEndpoint,
  secretHeader,
} from "@towpath/runner-api";
import type { Dispatcher } from "undici";
import { ServerConnections } from "./server-connections.ts";

/**
 * Idle connections are closed after this long, by us and never by the server, whose harness keeps them for 120 s: a
 * request must not be sent into a connection that is closing. This holds for a server that was frozen too, as its clock
 * runs on.
 */
export const idleConnectionMs = 30_000;

/** A server that is awake answers a ping within this time, unless its event loop is blocked. */
const pingMs = 2000;

/**
 * Connections to servers, one pool per endpoint. No time limits: a stream may be silent for hours, and tools may take
 * any time.
 */
export class Upstreams {
  readonly #pools = new Map<string, ServerConnections>();

  at(endpoint: Endpoint): Dispatcher {
    const key = endpointKey(endpoint);
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = new ServerConnections({ endpoint, connectMs: 5000, idleMs: idleConnectionMs });
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** Endpoints that have a pool. */
  get count(): number {
    return this.#pools.size;
  }

  /** Closes the connections of an endpoint once the requests on them have ended. */
  retire(endpoint: Endpoint): void {
    const key = endpointKey(endpoint);
    const pool = this.#pools.get(key);
    this.#pools.delete(key);
    void pool?.close().catch(() => {});
  }

  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy().catch(() => {})));
  }
}

/** Whether a server is awake: a frozen one takes a connection and says nothing. Any answer of its own will do. */
export async function answersPing(upstream: Dispatcher, { secret }: ServerEndpoint): Promise<boolean> {
  const headers = { host: "localhost", [secretHeader]: secret };
  const ping = { method: "OPTIONS", path: "/mcp", headers } as const;
  try {
    const { statusCode, headers, body } = await upstream.request({ ...ping, signal: AbortSignal.timeout(pingMs) });
    await body.dump();
    return !isOtherInstance(statusCode, headers);
  } catch (error) {
    // Its queue of new connections is full: it is busy.
    return isBacklogFull(error);
  }
}
