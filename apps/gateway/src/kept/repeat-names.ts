const maxNames = 50_000;

/**
 * Which sessions and request ids of calls without a key may be repeated: this keeps the others free of queries. Gateways
 * tell each other by notifications. A name may be known for longer than its call.
 */
export class RepeatNames {
  readonly #load: () => Promise<readonly string[]>;
  #names = new Set<string>();
  #loading: Promise<void> | null = null;

  constructor(load: () => Promise<readonly string[]>) {
    this.#load = load;
  }

  /** `name`: undefined: some may have been missed. */
  learn(name?: string): void {
    if (name === undefined) this.#loading = this.#reload();
    else this.#add(name);
  }

  has(name: string): boolean | Promise<boolean> {
    return this.#loading === null ? this.#names.has(name) : this.#loading.then(() => this.#names.has(name));
  }

  async #reload(): Promise<void> {
    try {
      for (const name of await this.#load()) this.#add(name);
    } catch {
      // It is called again once there is a connection.
    } finally {
      this.#loading = null;
    }
  }

  #add(name: string): void {
    // The oldest leave: a call is under way or kept for a bounded time.
    const [oldest] = this.#names.size >= maxNames ? this.#names : [];
    if (oldest !== undefined) this.#names.delete(oldest);
    this.#names.add(name);
  }
}
