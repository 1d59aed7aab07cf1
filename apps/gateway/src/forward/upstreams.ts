import { type Dispatcher, Pool } from "undici";
import { isBacklogFull } from "./runner-client.ts";

/**
 * Idle connections are closed after this long, and so by us and never by the server, whose harness keeps them for
 * 120 s: a request must not be sent into a connection that just ends. Also for a server that was frozen meanwhile,
 * whose own clock runs on.
 */
export const idleConnectionMs = 30_000;

/** A server that is awake answers a ping within this, unless its event loop is blocked. */
const pingMs = 2000;

/**
 * Connections to servers, one pool per unix socket. No time limits: a stream may be silent for hours, and how long
 * a tool may take is not ours to say.
 */
export class Upstreams {
  readonly #pools = new Map<string, Pool>();

  at(socketPath: string): Dispatcher {
    let pool = this.#pools.get(socketPath);
    if (!pool) {
      pool = new Pool("http://server", {
        socketPath,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: idleConnectionMs,
        keepAliveMaxTimeout: idleConnectionMs,
        maxHeaderSize: 64 * 1024,
        connect: { timeout: 5000 },
      });
      this.#pools.set(socketPath, pool);
    }
    return pool;
  }

  /** Sockets that have a pool. */
  get count(): number {
    return this.#pools.size;
  }

  /** Closes the connections of a socket once the requests on them have ended. */
  retire(socketPath: string): void {
    const pool = this.#pools.get(socketPath);
    this.#pools.delete(socketPath);
    void pool?.close().catch(() => {});
  }

  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy().catch(() => {})));
  }
}

/** Whether a server is awake: a frozen one takes a connection and says nothing. What it answers does not matter. */
export async function answersPing(upstream: Dispatcher): Promise<boolean> {
  const ping = { method: "OPTIONS", path: "/mcp", headers: { host: "localhost" } } as const;
  try {
    const { body } = await upstream.request({ ...ping, signal: AbortSignal.timeout(pingMs) });
    await body.dump();
    return true;
  } catch (error) {
    // Its queue of new connections is full: it is busy.
    return isBacklogFull(error);
  }
}
