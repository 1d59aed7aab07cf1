import {
  BatchWriter,
  cutTexts,
  type RequestLogRow,
  requestLogBatches,
  type WriteOutcome,
  writeRequestLogs,
} from "@towpath/logs";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Logged } from "../call/states.ts";
import { LostRows } from "./lost-rows.ts";
import { rowsOf } from "./rows.ts";
import type { SegmentCopies } from "./segment-copies.ts";
import type { Segment, Spool } from "./spool.ts";
import { lineOf } from "./spool-lines.ts";

const flushMs = 250;
/** Rows in memory, all projects together. Beyond that they are only on disk, or lost if the disk is full too. */
const maxHeldRows = 20_000;
const maxHeldBytes = 64 * 1024 * 1024;
/** A turn of the event loop that ends more calls than this writes them to disk in several steps. */
const maxRowsPerAppend = 64;
const replayMs = 1000;
/** Pause between two searches for rows of processes that have ended. */
const adoptMs = 5000;
/** First and longest pause before retrying a segment that the database rejects for an unclear reason. */
const firstDoubtMs = 1000;
const maxDoubtMs = 60_000;
const closeWithinMs = 800;
/** Pause between two looks whether rows wait for so long that they have to be copied. */
const copyMs = 1000;

/** Receives the rows of each call once, when they are recorded. */
type OnRecorded = (call: Logged, rows: readonly RequestLogRow[]) => void;

/** Counts since the start: rows in the database, on disk, lost, and put aside because the database refuses them. */
export type RecorderCounters = { written: number; spooled: number; dropped: number; refused: number };

/** `bytes`: the length of the row's line. `line`: empty after the attempt to write it. */
type Held = { readonly row: RequestLogRow; readonly bytes: number; line: string; segment: Segment | null };

/**
 * Takes request-log rows off the hot path. Each goes to disk within the turn of the event loop that ended its call, so
 * that a killed gateway loses none, and from memory to the database in batches (GW-10). Soon after a process has ended,
 * another one writes what it left on disk; rows that are in the database already are skipped. A row is lost only when
 * memory and disk are full; it is counted, and named when the process ends.
 */
export class Recorder {
  readonly counters: RecorderCounters = { written: 0, spooled: 0, dropped: 0, refused: 0 };
  readonly #spool: Spool;
  readonly #log: Logger;
  readonly #onRecorded: readonly OnRecorded[];
  readonly #writer: BatchWriter<Held>;
  #turn: Held[] = [];
  #afterTurn: (() => void)[] = [];
  #diskIsFull = false;
  readonly #lost = new LostRows();
  /** Segments that the database rejects without blaming the rows or the table. */
  readonly #doubtful = new Map<Segment, { since: number; retryAt: number; pauseMs: number }>();
  #isReplaying = false;
  #adoptAt = Number.NEGATIVE_INFINITY;
  #replayTimer: NodeJS.Timeout | undefined;
  #copyTimer: NodeJS.Timeout | undefined;
  readonly #copies: SegmentCopies | null;

  /** `share`: this process's share of the bounds in memory. `copies`: null: the disk outlives this process. */
  constructor(parts: {
    pool: Pool;
    spool: Spool;
    log: Logger;
    share?: number;
    copies?: SegmentCopies | null;
    onRecorded?: readonly OnRecorded[];
  }) {
    const { pool, log, share = 1, copies = null } = parts;
    this.#spool = parts.spool;
    this.#copies = copies;
    this.#log = log;
    this.#onRecorded = parts.onRecorded ?? [];
    this.#writer = new BatchWriter<Held>({
      maxRows: maxHeldRows * share,
      maxBytes: maxHeldBytes * share,
      flushMs,
      ...requestLogBatches,
      tenantOf: ({ row }) => row.projectId,
      bytesOf: ({ bytes }) => bytes,
      write: async (held) => {
        await writeRequestLogs(
          pool,
          held.map(({ row }) => row),
        );
        this.counters.written += held.length;
      },
      onSettled: (held) => this.#settle(held),
      onEvicted: (held) => this.#evicted(held),
      onRefused: ({ row }, error) => {
        this.counters.refused++;
        // Don't log the row itself: tenant data does not belong in the operator's log.
        const { id, projectId } = row;
        log.error({ err: error, row: id, projectId }, "the database refuses a request-log row; it was put aside");
      },
      onUnavailable: (error) => log.warn({ err: error }, "request logs cannot be written; they wait on disk"),
      onRecovered: () => log.info("request logs are written again"),
    });
  }

  /** Rows in memory that are not in the database yet. */
  get held(): number {
    return this.#writer.size;
  }

  start(): void {
    void this.#replay();
    this.#replayTimer = setInterval(() => void this.#replay(), replayMs);
    this.#replayTimer.unref();
    if (this.#copies) this.#copyTimer = setInterval(() => this.#copies?.look(this.#writer), copyMs).unref();
  }

  /** Adds the rows of a call, unless that has been done. */
  record(call: Logged): void {
    const { answer } = call.received;
    if (answer.isRecorded) return;
    answer.isRecorded = true;
    const rows = rowsOf(call);
    for (const row of rows) this.add(row);
    for (const each of this.#onRecorded) each(call, rows);
  }

  add(uncut: RequestLogRow): void {
    const row = cutTexts(uncut);
    const line = lineOf(row);
    this.#turn.push({ row, bytes: line.length, line, segment: null });
    if (this.#turn.length === 1) setImmediate(this.#endTurn);
    else if (this.#turn.length >= maxRowsPerAppend) this.#endTurn();
  }

  /**
   * Calls back when the rows that were added so far are on disk: what the client gets only then is never answered
   * without a row. All calls of a turn share one write.
   */
  onPersisted(callback: () => void): void {
    if (this.#turn.length === 0) callback();
    else this.#afterTurn.push(callback);
  }

  async stop(): Promise<void> {
    clearInterval(this.#replayTimer);
    clearInterval(this.#copyTimer);
    this.#endTurn();
    const unwritten = await this.#writer.close(closeWithinMs);
    const inMemoryOnly = unwritten.filter(({ segment }) => segment === null);
    for (const held of inMemoryOnly) held.line = lineOf(held.row);
    this.#toDisk(inMemoryOnly);
    for (const { row, segment } of inMemoryOnly) if (segment === null) this.#lose(row);
    // One message, which the terminal shows, too.
    const lost = this.#lost.describe();
    if (lost !== null) this.#log.error(lost);
    await this.#copies?.finish();
    await this.#spool.close();
  }

  #lose(row: RequestLogRow): void {
    this.counters.dropped++;
    this.#lost.add(row);
  }

  readonly #endTurn = (): void => {
    const turn = this.#turn;
    if (turn.length === 0) return;
    const callbacks = this.#afterTurn;
    this.#turn = [];
    this.#afterTurn = [];
    this.#toDisk(turn);
    for (const callback of callbacks) callback();
    for (const held of turn) this.#writer.push(held);
  };

  /** Rows that the disk has no room for stay in memory only. */
  #toDisk(rows: readonly Held[]): void {
    const fitting: Held[] = [];
    let lines = "";
    for (const held of rows) {
      if (this.#spool.hasRoomFor(held.row.projectId, held.bytes)) {
        fitting.push(held);
        lines += held.line;
      }
      held.line = "";
    }
    if (fitting.length === 0) return;
    const segment = this.#spool.append(fitting, lines);
    if ((segment === null) !== this.#diskIsFull) {
      this.#diskIsFull = segment === null;
      if (this.#diskIsFull) this.#log.error("the log spool cannot be written: free disk space; rows stay in memory");
      else this.#log.info("the log spool is written again");
    }
    if (segment === null) return;
    for (const held of fitting) held.segment = segment;
    this.counters.spooled += fitting.length;
  }

  #settle(rows: readonly Held[]): void {
    for (const { segment } of rows) if (segment) this.#spool.release(segment, 1, { areWritten: true });
  }

  #evicted({ row, segment }: Held): void {
    if (segment) this.#spool.release(segment, 1, { areWritten: false });
    else this.#lose(row);
  }

  /** Writes rows that are only on disk: of processes that have ended, and those that memory had no room for. */
  async #replay(): Promise<void> {
    if (this.#isReplaying) return;
    this.#isReplaying = true;
    const isDue = (segment: Segment) => this.#isDue(segment);
    try {
      await this.#adopt();
      // Writing the rows in memory detects when the database is available again.
      if (this.#writer.isUnavailable && this.#writer.size > 0) return;
      for (let next = await this.#spool.nextToReplay(isDue); next; next = await this.#spool.nextToReplay(isDue)) {
        const outcome = await this.#replaySegment(next.segment, next.rows);
        if (outcome === "unavailable") return;
        if (outcome === "doubtful") this.#doubt(next.segment);
        else {
          this.#doubtful.delete(next.segment);
          this.#spool.replayed(next.segment);
        }
      }
      await this.#copies?.take((rows) => this.#writeRows(rows, null));
    } catch (error) {
      this.#log.error({ err: error }, "the log spool cannot be read");
    } finally {
      this.#isReplaying = false;
    }
  }

  async #adopt(): Promise<void> {
    if (performance.now() < this.#adoptAt) return;
    this.#adoptAt = performance.now() + adoptMs;
    try {
      await this.#spool.adopt();
    } catch (error) {
      this.#log.error({ err: error }, "log rows of processes that have ended cannot be taken over");
    }
  }

  #replaySegment(segment: Segment, rows: readonly RequestLogRow[]): Promise<WriteOutcome> {
    return this.#writeRows(rows, this.#doubtful.get(segment)?.since ?? null);
  }

  async #writeRows(rows: readonly RequestLogRow[], since: number | null): Promise<WriteOutcome> {
    let isDoubtful = false;
    for (let at = 0; at < rows.length; at += requestLogBatches.batchRows) {
      const batch = rows.slice(at, at + requestLogBatches.batchRows).map(fromDisk);
      const outcome = await this.#writer.writeNow(batch, since);
      if (outcome === "unavailable") return outcome;
      isDoubtful ||= outcome === "doubtful";
    }
    return isDoubtful ? "doubtful" : "done";
  }

  /** Postpones a segment, for longer each time, so that it neither blocks later ones nor is read over and over. */
  #doubt(segment: Segment): void {
    const now = performance.now();
    const before = this.#doubtful.get(segment);
    const pauseMs = before ? Math.min(before.pauseMs * 2, maxDoubtMs) : firstDoubtMs;
    this.#doubtful.set(segment, { since: now, retryAt: now + pauseMs, pauseMs });
  }

  /** Once other rows have been written, the segment itself must be at fault: no need to wait. */
  #isDue(segment: Segment): boolean {
    const doubt = this.#doubtful.get(segment);
    return doubt === undefined || performance.now() >= doubt.retryAt || this.#writer.writtenAt > doubt.since;
  }
}

/** Its segment is deleted as a whole, not row by row. */
function fromDisk(row: RequestLogRow): Held {
  return { row, bytes: 0, line: "", segment: null };
}
