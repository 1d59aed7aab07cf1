import { LRUCache } from "lru-cache";
import { BatchedReader } from "./batched-reader.ts";

/** A valid credential in the database. `endsInMs`: until it expires, by the database's clock; absent: never. */
export type Confirmation<Value> = { readonly value: Value; readonly endsInMs?: number };

/** A confirmation as saved for other processes. Times in milliseconds since 1970; `endsAt` null: it never expires. */
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
  /** How long a confirmation counts without another query. */
  readonly cacheMs: number;
  /** How long a confirmation counts while the database is unavailable. */
  readonly outageMs: number;
  /** How long a denial counts without another query, unless a change is notified. Default: 0. */
  readonly deniedMs?: number;
  /** Monotonic milliseconds, so that setting the clock back doesn't extend a credential's life. */
  readonly now?: (() => number) | undefined;
};

/** When a query began: milliseconds, and its position among all queries and changes. */
type Asked = { readonly at: number; readonly order: number };

type Entry<Value> = {
  readonly value: Value;
  readonly asked: Asked;
  /** When it must be confirmed again, if the database is available. */
  readonly freshUntil: number;
  readonly endsAt: number;
  usedAt: number;
};

const maxEntries = 10_000;
/** Credentials that were not used for this long are dropped. */
const unusedMs = 24 * 3_600_000;
/** How long a caller waits for a database that does not answer, with a known and with an unknown credential. */
const knownTimeoutMs = 500;
const unknownTimeoutMs = 4000;
/** Pause between queries to an unavailable database. */
const retryMs = 1000;
/** Within this time a change reaches all processes. */
const propagationMs = 1000;

/**
 * Remembers credentials that the database confirmed: for `cacheMs` without another query, and for `outageMs` while it
 * is unavailable (GW-10). Unknown credentials are never accepted without the database. `refresh` confirms all again, so
 * that every credential in use is recent when an outage begins. A hanging database delays a known credential once, by
 * half a second.
 */
export class ConfirmedCache<Value> {
  readonly #options: ConfirmedCacheOptions<Value>;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry<Value>>({ max: maxEntries });
  readonly #reader: BatchedReader<Confirmation<Value>>;
  /** When the database last denied a credential: earlier saved confirmations don't count. */
  readonly #denied = new LRUCache<string, Asked>({ max: maxEntries });
  /** Number of queries and changes so far. */
  #order = 0;
  /** The last change: earlier confirmations don't count at all. */
  #changed: Asked = { at: Number.NEGATIVE_INFINITY, order: 0 };
  /** The last connect: earlier confirmations must be repeated, as changes may have been missed. */
  #connectedOrder = 0;
  #isUnavailable = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | null = null;
  #mustRefreshAgain = false;
  #refreshLater: NodeJS.Timeout | undefined;
  #version = 0;
  /** Restores what other processes saved. Called when the database is unavailable and a credential is unknown. */
  onUnknown: (() => Promise<void>) | null = null;

  constructor(options: ConfirmedCacheOptions<Value>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#reader = new BatchedReader((ids) => this.#confirm(ids), this.#now);
  }

  /** Changes when there is something new to save. */
  get version(): number {
    return this.#version;
  }

  /** Whether an id was ever confirmed; it may no longer count. */
  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** The value of a valid id, else null. @throws when the database is unavailable and the id is unknown */
  find(id: string): Value | null | Promise<Value | null> {
    const entry = this.#entries.get(id);
    const now = this.#now();
    if (entry) {
      entry.usedAt = now;
      if (this.#isFresh(entry, now)) return entry.value;
    } else if (this.#isDenied(id, now)) return null;
    const wasUnavailable = this.#isUnavailable;
    if (wasUnavailable && now - this.#askedAt < retryMs) return this.#findWithoutDatabase(id);
    this.#askedAt = now;
    const checking = this.#reader.ask(id);
    if (!entry || !this.#isKnown(entry, now)) return this.#wait(checking, id, unknownTimeoutMs);
    if (!wasUnavailable) return this.#wait(checking, id, knownTimeoutMs);
    checking.catch(() => {});
    return entry.value;
  }

  /**
   * After a change, nothing counts until it is confirmed again. All is confirmed once more a moment later, so that a
   * process that learns of the change later restores nothing that this one confirmed before it did.
   */
  changed(): void {
    this.#changed = { at: this.#now(), order: ++this.#order };
    this.#reader.forget();
    this.#version++;
    void this.refresh();
    clearTimeout(this.#refreshLater);
    this.#refreshLater = setTimeout(() => void this.refresh(), propagationMs).unref();
  }

  /** Changes may have been missed: everything is confirmed again, and until then counts only during an outage. */
  connected(): void {
    this.#connectedOrder = ++this.#order;
    this.#reader.forget();
    void this.refresh();
  }

  /** Confirms everything that was used within a day again, and drops the rest. Never rejects. */
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

  /** Takes over what another process saved. It counts only while the database is unavailable. */
  restore(saved: readonly SavedConfirmation<Value>[]): void {
    const now = this.#now();
    const epoch = Date.now() - now;
    for (const { id, value, ...times } of saved) {
      const at = times.confirmedAt - epoch;
      // The clock was set back, so its age is unknown.
      if (at > now || at <= this.#changed.at) continue;
      const known = [this.#denied.peek(id), this.#entries.peek(id)?.asked];
      // Confirmations from before this process started have a negative time here.
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

  async #wait(checking: Promise<Confirmation<Value> | null>, id: string, timeoutMs: number): Promise<Value | null> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#isUnavailable = true;
      reject(new Error(`the database has not answered within ${timeoutMs} ms`));
    }, timeoutMs);
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
      this.#isUnavailable = true;
      throw error;
    }
    if (this.#isUnavailable) {
      this.#isUnavailable = false;
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
      // Known credentials are kept; the next call or refresh queries again.
    }
  }
}
