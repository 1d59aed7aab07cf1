import { LRUCache } from "lru-cache";
import { BatchedReader } from "./batched-reader.ts";

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

/** When a query began: milliseconds, and its place among all queries and changes. */
type Asked = { readonly at: number; readonly order: number };

type Entry<Value> = {
  readonly value: Value;
  readonly asked: Asked;
  /** By when it must be asked for again, if the database can be asked. */
  readonly freshUntil: number;
  readonly endsAt: number;
  usedAt: number;
};

const maxEntries = 10_000;
/** What was not used for this long is not kept for an outage. */
const unusedMs = 24 * 3_600_000;
/** How long a caller waits for a database that does not answer, when it was seen before and when it was not. */
const knownPatienceMs = 500;
const unknownPatienceMs = 4000;
/** While the database does not answer, it is asked again once in this time. */
const retryMs = 1000;
/** Within this, all processes hear of a change. */
const heardByAllMs = 1000;

/**
 * Remembers credentials that the database confirmed: for `cacheMs` without asking again, and for `outageMs` while it is
 * unavailable (GW-10). Whatever it does not know is never accepted without the database. `refresh` confirms all of them
 * anew, so that at the start of an outage every credential in use was confirmed lately. Nobody waits for long: a database
 * that hangs delays a known credential once, by half a second.
 */
export class ConfirmedCache<Value> {
  readonly #options: ConfirmedCacheOptions<Value>;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry<Value>>({ max: maxEntries });
  readonly #reader: BatchedReader<Confirmation<Value>>;
  /** When the database last denied a credential: what was saved before that doesn't count. */
  readonly #denied = new LRUCache<string, Asked>({ max: maxEntries });
  /** Number of queries and changes so far. */
  #order = 0;
  /** The last change: confirmations of queries from before it don't count at all. */
  #changed: Asked = { at: Number.NEGATIVE_INFINITY, order: 0 };
  /** The last connect: those from before it are to be repeated, as changes may have been missed. */
  #connectedOrder = 0;
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
    this.#reader = new BatchedReader((ids) => this.#confirm(ids), this.#now);
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
    const checking = this.#reader.ask(id);
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
    this.#changed = { at: this.#now(), order: ++this.#order };
    this.#reader.forget();
    this.#version++;
    void this.refresh();
    clearTimeout(this.#refreshLater);
    this.#refreshLater = setTimeout(() => void this.refresh(), heardByAllMs).unref();
  }

  /** Changes may have been missed: everything is confirmed anew, and until then counts only during an outage. */
  connected(): void {
    this.#connectedOrder = ++this.#order;
    this.#reader.forget();
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
      const { value, asked, endsAt, usedAt } = entry;
      const ends = Number.isFinite(endsAt) ? endsAt + epoch : null;
      return [{ id, value, confirmedAt: asked.at + epoch, endsAt: ends, usedAt: usedAt + epoch }];
    });
  }

  /** Takes over what another process saved. It counts only while the database is away. */
  restore(saved: readonly SavedConfirmation<Value>[]): void {
    const now = this.#now();
    const epoch = Date.now() - now;
    for (const { id, value, ...times } of saved) {
      const at = times.confirmedAt - epoch;
      // The clock was set back: nobody knows how old it is.
      if (at > now || at <= this.#changed.at) continue;
      const known = [this.#denied.peek(id), this.#entries.peek(id)?.asked];
      // What was confirmed before this process started has a negative time here.
      if (known.some((each) => each !== undefined && each.at >= at)) continue;
      const endsAt = times.endsAt === null ? Number.POSITIVE_INFINITY : times.endsAt - epoch;
      const asked = { at, order: ++this.#order };
      const entry = { value, asked, freshUntil: Number.NEGATIVE_INFINITY, endsAt, usedAt: times.usedAt - epoch };
      if (this.#isKnown(entry, now)) this.#entries.set(id, entry);
    }
  }

  #isFresh({ asked, freshUntil, endsAt }: Entry<Value>, now: number): boolean {
    return now < freshUntil && now < endsAt && this.#isCurrent(asked);
  }

  #isDenied(id: string, now: number): boolean {
    const denied = this.#denied.get(id);
    return denied !== undefined && now - denied.at < (this.#options.deniedMs ?? 0) && this.#isCurrent(denied);
  }

  #isCurrent({ order }: Asked): boolean {
    return order > this.#changed.order && order > this.#connectedOrder;
  }

  /** Whether it counts while the database is unavailable. */
  #isKnown({ asked, endsAt }: Entry<Value>, now: number): boolean {
    return now - asked.at < this.#options.outageMs && now < endsAt && asked.order > this.#changed.order;
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

  async #wait(checking: Promise<Confirmation<Value> | null>, id: string, patienceMs: number): Promise<Value | null> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#isAway = true;
      reject(new Error(`the database has not answered within ${patienceMs} ms`));
    }, patienceMs);
    try {
      return (await Promise.race([checking, late]))?.value ?? null;
    } catch (error) {
      return this.#findWithoutDatabase(id, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #confirm(ids: readonly string[]): Promise<ReadonlyMap<string, Confirmation<Value>>> {
    const asked = { at: this.#now(), order: ++this.#order };
    this.#askedAt = asked.at;
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
    for (const id of ids) this.#settle(id, found.get(id), asked);
    return found;
  }

  #settle(id: string, confirmation: Confirmation<Value> | undefined, asked: Asked): void {
    const known = this.#entries.peek(id);
    // Two checks of one credential may overtake each other.
    if (known && known.asked.at > asked.at) return;
    this.#version++;
    if (!confirmation) {
      this.#entries.delete(id);
      this.#denied.set(id, asked);
      return;
    }
    const { value, endsInMs = Number.POSITIVE_INFINITY } = confirmation;
    const freshUntil = asked.at + this.#options.cacheMs;
    const usedAt = known?.usedAt ?? asked.at;
    this.#entries.set(id, { value, asked, freshUntil, endsAt: asked.at + endsInMs, usedAt });
  }

  async #refreshAll(): Promise<void> {
    const unusedSince = this.#now() - unusedMs;
    const all = [...this.#entries];
    const used = all.filter(([, entry]) => entry.usedAt > unusedSince);
    for (const [id, { usedAt }] of all) if (usedAt <= unusedSince) this.#entries.delete(id);
    // Oldest first, so that the order of use stays as it was.
    const ids = used.map(([id]) => id).reverse();
    try {
      await this.#reader.readAll(ids);
    } catch {
      // What is known is kept; the next call or the next refresh asks again.
    }
  }
}
