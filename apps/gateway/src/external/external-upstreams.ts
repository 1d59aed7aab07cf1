import { type AddressPolicy, checkedLookup, checkServerUrl } from "@towpath/egress";
import { LRUCache } from "lru-cache";
import { type Dispatcher, Pool } from "undici";

const maxPools = 1000;
const connectMs = 5000;
/** Upper limit for the time that servers announce for keeping a connection. */
const maxIdleMs = 30_000;
/** For servers that announce none: common ones keep connections for 5 s. */
const idleMs = 4000;

/**
 * Connections to external servers, one pool for each. Each connection resolves the server's name again and goes only to
 * addresses that were checked at that moment. Redirects are not followed.
 */
export class ExternalUpstreams {
  /** Longest time until an answer begins, while a client waits for it. */
  readonly answerMs: number;
  readonly #policy: AddressPolicy;
  readonly #pools = new LRUCache<string, Pool>({
    max: maxPools,
    dispose: (pool) => void pool.close().catch(() => {}),
  });

  constructor({ policy, answerMs }: { policy: AddressPolicy; answerMs: number }) {
    this.#policy = policy;
    this.answerMs = answerMs;
  }

  /** @throws EgressError for a URL whose host is an address that is not allowed */
  at(externalServerId: string, url: string): { upstream: Dispatcher; path: string } {
    const checked = checkServerUrl(url, this.#policy);
    const key = `${externalServerId} ${checked.origin}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = new Pool(checked.origin, {
        pipelining: 1,
        allowH2: false,
        headersTimeout: this.answerMs,
        bodyTimeout: 0,
        keepAliveTimeout: idleMs,
        keepAliveMaxTimeout: maxIdleMs,
        maxHeaderSize: 64 * 1024,
        connect: {
          timeout: connectMs,
          lookup: checkedLookup(this.#policy, checked.protocol as "https:" | "http:"),
        },
      });
      this.#pools.set(key, pool);
    }
    return { upstream: pool, path: `${checked.pathname}${checked.search}` };
  }

  get count(): number {
    return this.#pools.size;
  }

  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()];
    await Promise.all(pools.map((pool) => pool.destroy().catch(() => {})));
  }
}
