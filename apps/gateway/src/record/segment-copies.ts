import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bucket } from "@towpath/artifacts/bucket";
import type { RequestLogRow, WriteOutcome } from "@towpath/logs";
import type { Logger } from "pino";
import { isPending, type Sealed, type Segment, type Spool } from "./spool.ts";
import { segmentName } from "./spool-directory.ts";
import { rowsOfSegment } from "./spool-lines.ts";

/** Rows that wait in memory, and when some were written last. */
export type Waiting = { readonly size: number; readonly writtenAt: number; readonly isUnavailable: boolean };

/** A segment has at most 4 MiB. */
const putMs = 10_000;
const retryMs = 500;

/**
 * Copies of a spool's segments in a bucket, while the database doesn't take their rows: a process may end for good, and
 * its disk with it, as those of a pod do (docs/decisions/075-what-survives-a-gateway.md). Its owner deletes a copy whose
 * rows are in the database. What stays is abandoned, and any gateway writes it: writing rows twice changes nothing.
 */
export class SegmentCopies {
  readonly #bucket: Bucket;
  readonly #spool: Spool;
  readonly #log: Logger;
  readonly #copied = new Map<string, Segment>();
  /** What the last look found. */
  #found: ReadonlySet<string> = new Set();
  #before = { size: 0, writtenAt: 0 };
  #takeAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #isUpdating = false;
  #running: Promise<void> = Promise.resolve();
  readonly #takeEveryMs: number | null;
  readonly #finishMs: number;

  /**
   * `takeEveryMs`: between two searches for copies that were abandoned; null: never. `finishMs`: for the last copies, when
   * this process ends.
   */
  constructor(parts: {
    bucket: Bucket;
    spool: Spool;
    log: Logger;
    takeEveryMs: number | null;
    finishMs: number;
  }) {
    this.#bucket = parts.bucket;
    this.#spool = parts.spool;
    this.#log = parts.log;
    this.#takeEveryMs = parts.takeEveryMs;
    this.#finishMs = parts.finishMs;
  }

  /**
   * Copies what has no copy if rows wait, and deletes copies that nobody needs any more. A database that hangs isn't noticed
   * for long, so rows also wait if nothing was written since the last look. Call it periodically.
   */
  look({ size, writtenAt, isUnavailable }: Waiting): void {
    const before = this.#before;
    this.#before = { size, writtenAt };
    const isLate = isUnavailable || (size > 0 && before.size > 0 && before.writtenAt === writtenAt);
    if (!this.#isUpdating) void this.#update(isLate);
  }

  /** Copies all that the database lacks, because this process ends; says so if it can't in time. */
  async finish(): Promise<void> {
    const deadline = performance.now() + this.#finishMs;
    for (;;) {
      const isOver = sleep(Math.max(0, deadline - performance.now()), undefined, { ref: false });
      await Promise.race([this.#running.then(() => this.#update(true)), isOver]);
      const segments = this.#uncopied().length;
      if (segments === 0) return;
      if (performance.now() + retryMs >= deadline)
        return this.#log.error({ segments }, "log rows that neither database nor bucket took are on this disk only");
      await sleep(retryMs);
    }
  }

  /** Writes what processes have left that ended together with their disk. Never rejects. */
  async take(write: (rows: readonly RequestLogRow[]) => Promise<WriteOutcome>): Promise<void> {
    if (this.#takeEveryMs === null || performance.now() < this.#takeAt) return;
    this.#takeAt = performance.now() + this.#takeEveryMs;
    try {
      for await (const { name, rows } of this.#abandoned()) {
        const outcome = await write(rows);
        if (outcome === "unavailable") return;
        if (outcome === "done") await this.#bucket.delete(name);
      }
    } catch (error) {
      this.#log.error({ err: error }, "log rows of gateways that have ended can't be read from the bucket");
    }
  }

  /** Rows of copies that no living process has deleted between the last look and this one. */
  async *#abandoned(): AsyncGenerator<{ readonly name: string; readonly rows: RequestLogRow[] }> {
    const before = this.#found;
    const found = new Set<string>();
    for await (const name of this.#bucket.list())
      if (segmentName.test(name) && !this.#copied.has(name) && !this.#spool.has(name)) found.add(name);
    this.#found = found;
    for (const name of [...found].filter((each) => before.has(each)).sort()) {
      const bytes = await this.#bucket.get(name);
      // Another gateway was faster.
      if (bytes === null) continue;
      const chunks: Uint8Array[] = [];
      for await (const chunk of bytes) chunks.push(chunk);
      yield { name, rows: rowsOfSegment(Buffer.concat(chunks).toString()) };
    }
  }

  #uncopied(): Sealed[] {
    return this.#spool.sealPending().filter(({ segment }) => !this.#copied.has(segment.name));
  }

  #update(isLate: boolean): Promise<void> {
    this.#isUpdating = true;
    this.#running = this.#updateOnce(isLate)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#isUpdating = false;
      });
    return this.#running;
  }

  async #updateOnce(isLate: boolean): Promise<void> {
    for (const [name, segment] of this.#copied) {
      if (isPending(segment)) continue;
      await this.#bucket.delete(name);
      this.#copied.delete(name);
    }
    if (!isLate) return;
    for (const each of this.#uncopied()) await this.#copy(each);
    if (this.#isFailing) this.#log.info("log rows that wait are copied to the bucket again");
    this.#isFailing = false;
  }

  async #copy({ segment, path }: Sealed): Promise<void> {
    try {
      const digest = createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
      await this.#bucket.put(segment.name, path, digest, { signal: AbortSignal.timeout(putMs) });
    } catch (error) {
      // Meanwhile the database has its rows, and the file is gone.
      if (isPending(segment)) throw error;
    }
    this.#copied.set(segment.name, segment);
  }

  #failed(error: unknown): void {
    if (!this.#isFailing)
      this.#log.error({ err: error }, "log rows that wait can't be copied to the bucket; they are on this disk only");
    this.#isFailing = true;
  }
}
