const maxIdsPerQuery = 1000;
/** A query that takes longer hangs: it must not prevent the next one from detecting that the database works again. */
const hangingMs = 1000;

/**
 * Reads by id, one query at a time: ids that arrive during a query share the next one, so made-up ids can't load the
 * database with a query for each.
 */
export class BatchedReader<Found> {
  readonly #read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>;
  readonly #now: () => number;
  /** Ids that wait for a query, and the ids of a running query. */
  #gathered = new Map<string, PromiseWithResolvers<Found | null>>();
  readonly #asked = new Map<string, Promise<Found | null>>();
  /** When the running query began; null: none runs. */
  #begunAt: number | null = null;

  constructor(read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** The result for an id, or null. Concurrent calls for the same id share one answer. */
  ask(id: string): Promise<Found | null> {
    const running = this.#asked.get(id);
    if (running) return running;
    const waiting = this.#gathered.get(id) ?? Promise.withResolvers<Found | null>();
    this.#gathered.set(id, waiting);
    const asking = waiting.promise.finally(() => {
      if (this.#asked.get(id) === asking) this.#asked.delete(id);
    });
    this.#asked.set(id, asking);
    if (this.#begunAt === null || this.#now() - this.#begunAt >= hangingMs) void this.#askGathered();
    return asking;
  }

  /** Calls from now on get the answer of a query that begins from now on. */
  forget(): void {
    this.#asked.clear();
  }

  /** Reads all of these. @throws when a query fails */
  async readAll(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += maxIdsPerQuery) await this.#read(ids.slice(at, at + maxIdsPerQuery));
  }

  /** Queries the collected ids, and then those that were collected meanwhile. Never rejects. */
  async #askGathered(): Promise<void> {
    while (this.#gathered.size > 0) {
      const asked = [...this.#gathered].slice(0, maxIdsPerQuery);
      for (const [id] of asked) this.#gathered.delete(id);
      const begunAt = this.#now();
      this.#begunAt = begunAt;
      try {
        const found = await this.#read(asked.map(([id]) => id));
        for (const [id, { resolve }] of asked) resolve(found.get(id) ?? null);
      } catch (error) {
        for (const [, { reject }] of asked) reject(error);
      }
      // Another query was started because this one took too long: that one continues.
      if (this.#begunAt !== begunAt) return;
      this.#begunAt = null;
    }
  }
}
