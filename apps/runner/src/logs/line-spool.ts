import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { LastLines } from "@towpath/runtime";
import { z } from "zod";
import type { ServerLine } from "./server-log.ts";

const segmentBytes = 256 * 1024;
/** About as much as the writer holds in memory. Further lines are in memory only. */
const maxBytes = 64 * 1024 * 1024;
const segmentName = /^\d{15}-\d+-\d{6}\.ndjson$/;

// This program wrote it: the check only has to detect a line that a crash cut off.
const rowSchema = z
  .custom<Omit<ServerLine, "time"> & { time: string }>(
    (row) => typeof row === "object" && row !== null && "time" in row && "projectId" in row && "line" in row,
  )
  .transform((row): ServerLine => ({ ...row, time: new Date(row.time) }));

type Segment = { readonly path: string; bytes: number; rows: number };

/**
 * Lines of servers on disk until the database has them, so that a killed runner loses none that it has received
 * (RUN-5). Each line is written by the end of the turn of the event loop in which it arrived. Not synced to the disk.
 */
export class LineSpool {
  readonly #directory: string;
  readonly #onError: (error: unknown) => void;
  readonly #segments = new Set<Segment>();
  readonly #segmentOf = new WeakMap<ServerLine, Segment>();
  #current: { readonly segment: Segment; readonly descriptor: number } | null = null;
  #turn: ServerLine[] = [];
  #bytes = 0;
  #count = 0;
  #hasFailed = false;

  /** `onError` is called once each time the disk begins to fail. */
  constructor(directory: string, onError: (error: unknown) => void) {
    this.#directory = directory;
    this.#onError = onError;
  }

  /** Lines that earlier runners kept, oldest first; some may be in the database. Call `release` for each. */
  takeOver(): ServerLine[] {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const names = readdirSync(this.#directory).filter((name) => segmentName.test(name));
    return names.sort().flatMap((name) => {
      const path = join(this.#directory, name);
      const text = readFileSync(path, "utf8");
      const rows = text.split("\n").flatMap(parseLine);
      const segment = { path, bytes: Buffer.byteLength(text), rows: rows.length };
      this.#segments.add(segment);
      this.#bytes += segment.bytes;
      for (const row of rows) this.#segmentOf.set(row, segment);
      this.#removeIfDone(segment);
      return rows;
    });
  }

  keep(row: ServerLine): void {
    if (this.#segmentOf.has(row)) return;
    this.#turn.push(row);
    if (this.#turn.length === 1) setImmediate(() => this.#endTurn());
  }

  /** Rows that are in the database, or never will be. */
  release(rows: readonly ServerLine[]): void {
    this.#endTurn();
    for (const row of rows) {
      const segment = this.#segmentOf.get(row);
      if (!segment || !this.#segmentOf.delete(row)) continue;
      segment.rows--;
      this.#removeIfDone(segment);
    }
  }

  /** The rest is left to the next runner. */
  close(): void {
    this.#endTurn();
    this.#seal();
  }

  #endTurn(): void {
    const rows = this.#turn;
    if (rows.length === 0) return;
    this.#turn = [];
    const content = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    if (this.#bytes + content.length > maxBytes) return;
    try {
      const { segment, descriptor } = this.#current ?? this.#open();
      segment.bytes += content.length;
      this.#bytes += content.length;
      if (writeSync(descriptor, content) < content.length) throw new Error("the disk is full");
      segment.rows += rows.length;
      for (const row of rows) this.#segmentOf.set(row, segment);
      this.#hasFailed = false;
      if (segment.bytes >= segmentBytes) this.#seal();
    } catch (error) {
      if (!this.#hasFailed) this.#onError(error);
      this.#hasFailed = true;
      this.#seal();
    }
  }

  #open(): { readonly segment: Segment; readonly descriptor: number } {
    const number = String(this.#count++ % 1_000_000).padStart(6, "0");
    const name = `${String(Date.now()).padStart(15, "0")}-${process.pid}-${number}.ndjson`;
    const segment = { path: join(this.#directory, name), bytes: 0, rows: 0 };
    this.#current = { segment, descriptor: openSync(segment.path, "a", 0o600) };
    this.#segments.add(segment);
    return this.#current;
  }

  #seal(): void {
    if (!this.#current) return;
    const { segment, descriptor } = this.#current;
    this.#current = null;
    closeSync(descriptor);
    this.#removeIfDone(segment);
  }

  #removeIfDone(segment: Segment): void {
    if (segment.rows > 0 || !this.#segments.has(segment)) return;
    if (segment === this.#current?.segment) {
      // It comes back here.
      this.#seal();
      return;
    }
    this.#segments.delete(segment);
    this.#bytes -= segment.bytes;
    rmSync(segment.path, { force: true });
  }
}

/** Where the output of each instance continues after these lines, which are in order. */
export function lastLinesOf(rows: readonly ServerLine[]): ReadonlyMap<string, LastLines> {
  const last = new Map<string, LastLines>();
  for (const { instanceId, stream, sequence } of rows)
    if (instanceId !== null && sequence !== undefined)
      last.set(instanceId, { ...last.get(instanceId), [stream]: sequence });
  return last;
}

function parseLine(line: string): ServerLine[] {
  if (line === "") return [];
  try {
    const row = rowSchema.safeParse(JSON.parse(line));
    return row.success ? [row.data] : [];
  } catch {
    return [];
  }
}
