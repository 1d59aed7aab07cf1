import { LRUCache } from "lru-cache";

/** What the database says of a credential. `endsInMs`: by the database's clock; absent: it has no end. */
export type Confirmation<Value> = { readonly value: Value; readonly endsInMs?: number };

/** A confirmation as saved for other processes. Times in milliseconds since 1970; `endsAt` null: it has no end. */
export type SavedConfirmation<Value> = {
  readonly id: string;
  readonly value: Value;
  readonly confirmedAt: number;
  readonly endsAt: number | null;
  readonly usedAt: number;
};

export type ConfirmedCacheOptions<Value> = {
  /** Returns those of the ids that are valid now. @throws when the database is unavailable */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Confirmation<Value>>>;
  /** How long a confirmation is taken without asking again. */
  readonly cacheMs: number;
  /** How long a confirmation counts while the database is unavailable. */
  readonly outageMs: number;
  /** How long a denial is taken without asking again, unless a change is notified; by default not at all. */
  readonly deniedMs?: number;
  /** Monotonic milliseconds, so that setting the clock back doesn't extend a credential's life. */
  readonly now?: (() => number) | undefined;
};

type Entry<Value> = {
  readonly value: Value;
  /** When the query that confirmed it began. */
  readonly confirmedAt: number;
  /** By when it must be asked for again, if the database can be asked. */
  readonly freshUntil: number;
  readonly endsAt: number;
  usedAt: number;
};

type Gathered<Value> = Map<string, PromiseWithResolvers<Value | null>>;

const maxEntries = 10_000;
const maxIdsPerQuery = 1000;
/** What was not used for this long is not kept for an outage. */
const unusedMs = 24 * 3_600_000;
/** How long a caller waits for a database that does not answer, when it was seen before and when it was not. */
const knownPatienceMs = 500;
const unknownPatienceMs = 4000;
/** While the database does not answer, it is asked again once in this time. */
const retryMs = 1000;
/** Later than this, other processes have heard of a change, too. */
const heardByAllMs = 1000;
/** The least difference between two times. */
const tick = 0.001;

/**
 * Remembers credentials that the database confirmed: for `cacheMs` without asking again, and for `outageMs` while it is
 * unavailable (GW-10). Whatever it does not know is never accepted without the database. `refresh` confirms all of them
 * anew, so that at the start of an outage every credential in use was confirmed lately.
 *
 * Nobody waits for long: a database that hangs delays a known credential once, by half a second. One query runs at a
 * time; whatever is asked for meanwhile is asked together after it, so strangers who make credentials up can't keep the
 * database busy with a query for each.
 */
export class ConfirmedCache<Value> {
  readonly #options: ConfirmedCacheOptions<Value>;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry<Value>>({ max: maxEntries });
  readonly #pending = new Map<string, Promise<Value | null>>();
  /** What is asked next. */
  #gathered: Gathered<Value> = new Map();
  /** When the query that runs began; null: none runs. */
  #queryBegunAt: number | null = null;
  /** When the database last denied a credential: what was saved before that doesn't count. */
  readonly #denied = new LRUCache<string, number>({ max: maxEntries });
  /** Confirmations from before this moment don't count at all: something has changed since. */
  #validAfter = Number.NEGATIVE_INFINITY;
  /** Those from before this moment are to be repeated: changes may have been missed. */
  #freshAfter = Number.NEGATIVE_INFINITY;
  #isAway = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | null = null;
  #mustRefreshAgain = false;
  #refreshLater: NodeJS.Timeout | undefined;
  #version = 0;
  /** Restores what other processes saved. Called when the database is away and a credential is unknown. */
  onUnknown: (() => Promise<void>) | null = null;

  constructor(options: ConfirmedCacheOptions<Value>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Differs when there is something else to save. */
  get version(): number {
    return this.#version;
  }

  /** Whether an id was confirmed once, which need not count any more. */
  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** What is valid now; null for anything else. @throws when the database is unavailable and the id is not known */
  find(id: string): Value | null | Promise<Value | null> {
    const entry = this.#entries.get(id);
    const now = this.#now();
    if (entry) {
      entry.usedAt = now;
      if (this.#isFresh(entry, now)) return entry.value;
    } else if (this.#isDenied(id, now)) return null;
    const wasAway = this.#isAway;
    if (wasAway && now - this.#askedAt < retryMs) return this.#findWithoutDatabase(id);
    this.#askedAt = now;
    const checking = this.#check(id);
    if (!entry || !this.#isKnown(entry, now)) return this.#wait(checking, id, unknownPatienceMs);
    if (!wasAway) return this.#wait(checking, id, knownPatienceMs);
    checking.catch(() => {});
    return entry.value;
  }

  /**
   * Something has changed: nothing counts until it is confirmed anew, and once more a moment later. A process that hears
   * of the change after this one takes nothing in an outage that this one confirmed before.
   */
  changed(): void {
    this.#validAfter = this.#now();
    this.#pending.clear();
    this.#version++;
    void this.refresh();
    clearTimeout(this.#refreshLater);
    this.#refreshLater = setTimeout(() => void this.refresh(), heardByAllMs).unref();
  }

  /** Changes may have been missed: everything is confirmed anew, and until then counts only during an outage. */
  connected(): void {
    this.#freshAfter = this.#now();
    this.#pending.clear();
    void this.refresh();
  }

  /** Confirms everything that was used within a day anew, and drops the rest. Never rejects. */
  refresh(): Promise<void> {
    if (this.#refreshing) {
      this.#mustRefreshAgain = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#refreshAll().finally(() => {
      this.#refreshing = null;
      if (!this.#mustRefreshAgain) return;
      this.#mustRefreshAgain = false;
      void this.refresh();
    });
    return this.#refreshing;
  }

  /** Everything that would count during an outage that began now. */
  save(): SavedConfirmation<Value>[] {
    const now = this.#now();
    const epoch = Date.now() - now;
    return [...this.#entries].flatMap(([id, entry]) => {
      if (!this.#isKnown(entry, now)) return [];
      const { value, confirmedAt, endsAt, usedAt } = entry;
      const ends = Number.isFinite(endsAt) ? endsAt + epoch : null;
      return [{ id, value, confirmedAt: confirmedAt + epoch, endsAt: ends, usedAt: usedAt + epoch }];
    });
  }

  /** Takes over what another process saved. It counts only while the database is away. */
  restore(saved: readonly SavedConfirmation<Value>[]): void {
    const now = this.#now();
    const epoch = Date.now() - now;
    for (const { id, value, ...times } of saved) {
      const confirmedAt = times.confirmedAt - epoch;
      // The clock was set back: nobody knows how old it is.
      if (confirmedAt > now) continue;
      const known = this.#entries.peek(id);
      const deniedAt = this.#denied.peek(id) ?? Number.NEGATIVE_INFINITY;
      if (deniedAt >= confirmedAt || (known && known.confirmedAt >= confirmedAt)) continue;
      const endsAt = times.endsAt === null ? Number.POSITIVE_INFINITY : times.endsAt - epoch;
      const entry = { value, confirmedAt, freshUntil: Number.NEGATIVE_INFINITY, endsAt, usedAt: times.usedAt - epoch };
      if (this.#isKnown(entry, now)) this.#entries.set(id, entry);
    }
  }

  #isFresh(entry: Entry<Value>, now: number): boolean {
    const { confirmedAt, freshUntil, endsAt } = entry;
    return now < freshUntil && now < endsAt && confirmedAt > this.#validAfter && confirmedAt > this.#freshAfter;
  }

  #isDenied(id: string, now: number): boolean {
    const deniedAt = this.#denied.get(id);
    if (deniedAt === undefined || now - deniedAt >= (this.#options.deniedMs ?? 0)) return false;
    return deniedAt > this.#validAfter && deniedAt > this.#freshAfter;
  }

  /** Whether it counts while the database is away. */
  #isKnown({ confirmedAt, endsAt }: Entry<Value>, now: number): boolean {
    return now - confirmedAt < this.#options.outageMs && now < endsAt && confirmedAt > this.#validAfter;
  }

  #findWithoutDatabase(id: string, cause?: unknown): Value | Promise<Value> {
    const entry = this.#entries.get(id);
    if (entry && this.#isKnown(entry, this.#now())) return entry.value;
    return this.#findSaved(id, cause);
  }

  async #findSaved(id: string, cause: unknown): Promise<Value> {
    await this.onUnknown?.();
    const entry = this.#entries.get(id);
    if (entry && this.#isKnown(entry, this.#now())) return entry.value;
    throw new Error("the database is unavailable, and this credential was not seen lately", { cause });
  }

  async #wait(checking: Promise<Value | null>, id: string, patienceMs: number): Promise<Value | null> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#isAway = true;
      reject(new Error(`the database has not answered within ${patienceMs} ms`));
    }, patienceMs);
    try {
      return await Promise.race([checking, late]);
    } catch (error) {
      return this.#findWithoutDatabase(id, error);
    } finally {
      clearTimeout(timer);
    }
  }

  #check(id: string): Promise<Value | null> {
    const running = this.#pending.get(id);
    if (running) return running;
    const asked = this.#gathered.get(id) ?? Promise.withResolvers<Value | null>();
    this.#gathered.set(id, asked);
    const checking = asked.promise.finally(() => {
      if (this.#pending.get(id) === checking) this.#pending.delete(id);
    });
    this.#pending.set(id, checking);
    // One that hangs must not keep the next from finding out that the database is back.
    const isBusy = this.#queryBegunAt !== null && this.#now() - this.#queryBegunAt < retryMs;
    if (!isBusy) void this.#askGathered();
    return checking;
  }

  /** Asks for what was gathered, and then for what was gathered meanwhile. Never rejects. */
  async #askGathered(): Promise<void> {
    while (this.#gathered.size > 0) {
      const asked = [...this.#gathered].slice(0, maxIdsPerQuery);
      for (const [id] of asked) this.#gathered.delete(id);
      const begunAt = this.#now();
      this.#queryBegunAt = begunAt;
      try {
        const found = await this.#confirm(asked.map(([id]) => id));
        for (const [id, { resolve }] of asked) resolve(found.get(id)?.value ?? null);
      } catch (error) {
        for (const [, { reject }] of asked) reject(error);
      }
      // Another one was begun because this one took too long: that one goes on.
      if (this.#queryBegunAt !== begunAt) return;
      this.#queryBegunAt = null;
    }
  }

  async #confirm(ids: readonly string[]): Promise<ReadonlyMap<string, Confirmation<Value>>> {
    // Later than a change in the same moment, which came before this query.
    const askedAt = Math.max(this.#now(), this.#validAfter + tick, this.#freshAfter + tick);
    this.#askedAt = askedAt;
    let found: ReadonlyMap<string, Confirmation<Value>>;
    try {
      found = await this.#options.read(ids);
    } catch (error) {
      this.#isAway = true;
      throw error;
    }
    if (this.#isAway) {
      this.#isAway = false;
      void this.refresh();
    }
    for (const id of ids) this.#settle(id, found.get(id), askedAt);
    return found;
  }

  #settle(id: string, confirmation: Confirmation<Value> | undefined, askedAt: number): void {
    const known = this.#entries.peek(id);
    // Two checks of one credential may overtake each other.
    if (known && known.confirmedAt > askedAt) return;
    this.#version++;
    if (!confirmation) {
      this.#entries.delete(id);
      this.#denied.set(id, askedAt);
      return;
    }
    const { value, endsInMs = Number.POSITIVE_INFINITY } = confirmation;
    const freshUntil = askedAt + this.#options.cacheMs;
    const usedAt = known?.usedAt ?? askedAt;
    const entry = { value, confirmedAt: askedAt, freshUntil, endsAt: askedAt + endsInMs, usedAt };
    this.#entries.set(id, entry);
  }

  async #refreshAll(): Promise<void> {
    const unusedSince = this.#now() - unusedMs;
    const all = [...this.#entries];
    const used = all.filter(([, entry]) => entry.usedAt > unusedSince);
    for (const [id, { usedAt }] of all) if (usedAt <= unusedSince) this.#entries.delete(id);
    // Oldest first, so that the order of use stays as it was.
    const ids = used.map(([id]) => id).reverse();
    try {
      for (let at = 0; at < ids.length; at += maxIdsPerQuery) await this.#confirm(ids.slice(at, at + maxIdsPerQuery));
    } catch {
      // What is known is kept; the next call or the next refresh asks again.
    }
  }
}
