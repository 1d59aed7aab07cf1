import { type BufferBounds, FairBuffer } from "./fair-buffer.ts";
import { type Isolation, type WriteOutcome, writeIsolating } from "./write-isolating.ts";

export type BatchWriterOptions<Row> = BufferBounds<Row> & {
  /** Writes a batch whole or not at all. */
  write: (rows: readonly Row[]) => Promise<void>;
  flushMs: number;
  /** This many rows are written at once, fewer after `flushMs`. */
  batchRows: number;
  /** Rows of a batch if more than `batchRows` wait and they are small. Default: `batchRows`. */
  maxBatchRows?: number;
  /** Rows that are in the database, or never will be: they need not be kept any longer. */
  onSettled?: (rows: readonly Row[]) => void;
  /** A row that the buffer had no room for. */
  onEvicted: (row: Row) => void;
  /** A row that the database refuses, which was put aside. */
  onRefused: (row: Row, error: unknown) => void;
  /** Called once when rows can't be written any more, and once when they can be again. */
  onUnavailable: (error: unknown) => void;
  onRecovered: () => void;
};

const retryMs = 1000;
/** Rows that are large on average are written in smaller batches, so that a statement stays below about this size. */
const maxBatchBytes = 4 * 1024 * 1024;

/** Collects rows of all tenants and writes them in batches; holds them, up to a limit, without the database. */
export class BatchWriter<Row> {
  readonly #options: BatchWriterOptions<Row>;
  readonly #buffer: FairBuffer<Row>;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | null = null;
  #isFailing = false;
  /** When rows of the buffer were last refused for an unclear reason; null: not now. */
  #doubtfulSince: number | null = null;
  /** When rows were written last, by performance.now(). */
  #writtenAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #inWrite = 0;

  constructor(options: BatchWriterOptions<Row>) {
    this.#options = options;
    this.#buffer = new FairBuffer(options);
  }

  /** Whether the database was unavailable at the last attempt. */
  get isUnavailable(): boolean {
    return this.#isFailing && this.#doubtfulSince === null;
  }

  /** When rows were written last, by performance.now(). */
  get writtenAt(): number {
    return this.#writtenAt;
  }

  /** Rows in memory, including those of a running write. */
  get size(): number {
    return this.#buffer.size + this.#inWrite;
  }

  push(row: Row): void {
    for (const evicted of this.#buffer.push(row)) this.#options.onEvicted(evicted);
    if (this.#buffer.size >= this.#options.batchRows && !this.#isFailing) void this.#flush();
    else this.#later(this.#options.flushMs);
  }

  /** Writes all rows, gives up after `withinMs`, and returns those that could not be written. Takes no rows after. */
  async close(withinMs: number): Promise<Row[]> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const { promise: deadline, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    // A write that began before may leave rows behind.
    const written = this.#flush().then(() => (this.#isFailing ? undefined : this.#flush()));
    await Promise.race([written, deadline]);
    clearTimeout(timer);
    return this.#buffer.take(this.#buffer.size);
  }

  /**
   * Writes rows past the buffer, under the same rules: refused rows are put aside. `doubtfulSince`: when the last
   * attempt ended as `doubtful`. If other rows were written since, these are to blame.
   */
  async writeNow(rows: readonly Row[], doubtfulSince: number | null = null): Promise<WriteOutcome> {
    return (await this.#write(rows, doubtfulSince)).outcome;
  }

  #later(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, ms);
    this.#timer.unref();
  }

  #flush(): Promise<void> {
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #drain(): Promise<void> {
    while (this.#buffer.size > 0) {
      const batch = this.#buffer.take(this.#nextBatchRows());
      this.#inWrite = batch.length;
      const { outcome, unwritten } = await this.#write(batch, this.#doubtfulSince);
      this.#inWrite = 0;
      this.#doubtfulSince = outcome === "doubtful" ? performance.now() : null;
      if (unwritten.length > 0) {
        for (const evicted of this.#buffer.putBack(unwritten)) this.#options.onEvicted(evicted);
        return this.#later(retryMs);
      }
      // Less than a batch: wait for more.
      if (this.#buffer.size < this.#options.batchRows && !this.#isClosed) break;
    }
    if (this.#buffer.size > 0) this.#later(this.#options.flushMs);
  }

  /** A statement has a fixed cost, so a backlog is written in larger batches. */
  #nextBatchRows(): number {
    const { batchRows, maxBatchRows = batchRows } = this.#options;
    const { size, bytes } = this.#buffer;
    const fitting = Math.floor((maxBatchBytes * size) / Math.max(1, bytes));
    return Math.max(batchRows, Math.min(maxBatchRows, fitting));
  }

  async #write(rows: readonly Row[], doubtfulSince: number | null): Promise<Isolation<Row>> {
    const { write, onSettled, onRefused, onUnavailable, onRecovered } = this.#options;
    const isTableProven = doubtfulSince !== null && this.#writtenAt > doubtfulSince;
    const isolation = await writeIsolating(rows, write, { isTableProven });
    const { outcome, unwritten, refused, error } = isolation;
    if (isolation.hasWritten) this.#writtenAt = performance.now();
    for (const each of refused) onRefused(each.row, each.error);
    if (unwritten.length === 0) onSettled?.(rows);
    else {
      const left = new Set(unwritten);
      onSettled?.(rows.filter((row) => !left.has(row)));
    }
    const fails = outcome !== "done";
    if (fails && !this.#isFailing) onUnavailable(error);
    if (!fails && this.#isFailing) onRecovered();
    this.#isFailing = fails;
    return isolation;
  }
}
