import { setTimeout as sleep } from "node:timers/promises";

const maxNames = 50_000;
/** As for routes. */
const openWithinMs = 1000;

/**
 * Which sessions and request ids of calls without a key may be repeated: this keeps the others free of queries. Gateways
 * tell each other by notifications. A name may be known for longer than its call.
 */
export class RepeatNames {
  readonly #load: () => Promise<readonly string[]>;
  readonly #names = new Set<string>();
  /** Null: they have been loaded once, or that took too long. */
  #opening: Promise<unknown> | null;

  constructor(load: () => Promise<readonly string[]>) {
    this.#load = load;
    // After a restart, clients ask again at once. Nobody waits for long, though, for a database that doesn't answer.
    this.#opening = Promise.race([this.#reload(), sleep(openWithinMs, undefined, { ref: false })]).finally(() => {
      this.#opening = null;
    });
  }

  /** `name`: undefined: some may have been missed. */
  learn(name?: string): void {
    if (name === undefined) void this.#reload();
    else this.#add(name);
  }

  has(name: string): boolean | Promise<boolean> {
    return this.#opening === null ? this.#names.has(name) : this.#opening.then(() => this.#names.has(name));
  }

  async #reload(): Promise<void> {
    // If this fails, it is called again once there is a connection.
    for (const name of await this.#load().catch(() => [])) this.#add(name);
  }

  #add(name: string): void {
    // The oldest leave: a call is under way or kept for a bounded time.
    const [oldest] = this.#names.size >= maxNames ? this.#names : [];
    if (oldest !== undefined) this.#names.delete(oldest);
    this.#names.add(name);
  }
}
