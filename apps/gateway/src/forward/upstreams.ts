import { type Dispatcher, Pool } from "undici";

/**
 * Connections to servers, one pool per unix socket. No time limits: a stream may be silent for hours, and how long
 * a tool may take is not ours to say. Idle connections are closed before uvicorn does it (5 s), so that a request
 * is not sent into a connection that just ends.
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
        keepAliveTimeout: 3000,
        keepAliveMaxTimeout: 3000,
        maxHeaderSize: 64 * 1024,
        connect: { timeout: 5000 },
      });
      this.#pools.set(socketPath, pool);
    }
    return pool;
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
