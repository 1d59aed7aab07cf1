import { type RequestLogRow, writeRequestLogs } from "@towpath/logs";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Spool } from "./spool.ts";

const flushMs = 250;
const batchRows = 500;
/** While a write is under way new rows wait; beyond this many they go to disk. */
const mostBufferedRows = 20_000;
const replayMs = 1000;

export type RecorderCounters = { written: number; spooled: number; dropped: number };

/**
 * Takes request-log rows off the hot path and writes them in batches; while the database is away they go to the
 * spool and from there to the database when it is back (GW-10). A row is lost only when the spool is full too, or
 * when the database says that the row itself is wrong; both are counted.
 */
export class Recorder {
  readonly counters: RecorderCounters = { written: 0, spooled: 0, dropped: 0 };
  readonly #pool: Pool;
  readonly #spool: Spool;
  readonly #log: Logger;
  #rows: RequestLogRow[] = [];
  #writing: Promise<void> | null = null;
  #away = false;
  #flushTimer: NodeJS.Timeout | undefined;
  #replayTimer: NodeJS.Timeout | undefined;

  constructor(parts: { pool: Pool; spool: Spool; log: Logger }) {
    this.#pool = parts.pool;
    this.#spool = parts.spool;
    this.#log = parts.log;
  }

  start(): void {
    this.#flushTimer = setInterval(() => void this.flush(), flushMs);
    this.#replayTimer = setInterval(() => void this.#replay(), replayMs);
    this.#flushTimer.unref();
    this.#replayTimer.unref();
  }

  add(row: RequestLogRow): void {
    this.#rows.push(row);
    if (this.#rows.length < batchRows) return;
    if (!this.#writing) void this.flush();
    else if (this.#rows.length > mostBufferedRows) this.#toSpool(this.#take(mostBufferedRows));
  }

  /** Writes what is buffered, to the database or the spool; resolves when it is there. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
    if (this.#rows.length === 0) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#flushTimer);
    clearInterval(this.#replayTimer);
    await this.flush();
    await this.#spool.close();
  }

  #take(count: number): RequestLogRow[] {
    const taken = this.#rows.slice(0, count);
    this.#rows = this.#rows.slice(count);
    return taken;
  }

  async #writeAll(): Promise<void> {
    while (this.#rows.length > 0) {
      const batch = this.#take(batchRows);
      if (this.#away || !(await this.#write(batch))) this.#toSpool(batch);
      if (this.#rows.length < batchRows) return;
    }
  }

  /** False when the database could not be asked. Rows that it refuses are left out. */
  async #write(rows: readonly RequestLogRow[]): Promise<boolean> {
    try {
      await writeRequestLogs(this.#pool, rows);
      this.counters.written += rows.length;
      return true;
    } catch (error) {
      if (!isFaultOfRow(error)) {
        if (!this.#away) this.#log.warn({ err: error }, "request logs cannot be written; they wait on disk");
        this.#away = true;
        return false;
      }
      if (rows.length === 1) {
        this.#log.error({ err: error, row: rows[0]?.id }, "a request-log row was refused by the database");
        this.counters.dropped++;
        return true;
      }
      // One bad row must not take 499 others with it: halve until it stands alone.
      const middle = rows.length >> 1;
      return (await this.#write(rows.slice(0, middle))) && (await this.#write(rows.slice(middle)));
    }
  }

  #toSpool(rows: readonly RequestLogRow[]): void {
    const kept = this.#spool.append(rows);
    this.counters.spooled += kept;
    this.counters.dropped += rows.length - kept;
  }

  async #replay(): Promise<void> {
    if (this.#writing || this.#spool.isEmpty) {
      if (this.#spool.isEmpty) this.#away = false;
      return;
    }
    this.#writing = this.#spool
      .replay(batchRows, (rows) => this.#write(rows))
      .then((done) => {
        if (done && this.#away) {
          this.#away = false;
          this.#log.info("request logs are written again");
        }
      })
      .catch((error: unknown) => this.#log.error({ err: error }, "the log spool cannot be read"))
      .finally(() => {
        this.#writing = null;
      });
    await this.#writing;
  }
}

/** SQLSTATE classes 22 (data) and 23 (constraint) blame the row; anything else the database's state. */
function isFaultOfRow(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && /^2[23][0-9A-Z]{3}$/.test(error.code)
  );
}
