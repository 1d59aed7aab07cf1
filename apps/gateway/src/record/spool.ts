import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { RequestLogRow } from "@towpath/logs";
import { z } from "zod";

const segmentBytes = 8 * 1024 * 1024;
const mostBytes = 1024 * 1024 * 1024;
const segmentName = /^\d{15}-\d{6}\.ndjson$/;

// Rows were written by this program; what matters is that a line cut short by a crash is told from a whole one.
const lineSchema = z.custom<RequestLogRow>(
  (row) => typeof row === "object" && row !== null && "id" in row && "time" in row && "projectId" in row,
);

/**
 * Rows on disk while the database is away: segments of JSON lines, oldest first, deleted once written. Appends are
 * synchronous: when `append` returns, the operating system has the rows, and a crash of the gateway keeps them.
 */
export class Spool {
  readonly #directory: string;
  #segments: string[] = [];
  #bytes = 0;
  #file: { descriptor: number; name: string; size: number } | null = null;
  #number = 0;

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#segments = readdirSync(directory)
      .filter((name) => segmentName.test(name))
      .sort();
    for (const name of this.#segments) this.#bytes += statSync(join(directory, name)).size;
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps rows; returns how many there was room for. */
  append(rows: readonly RequestLogRow[]): number {
    const text = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    if (this.#bytes + text.length > mostBytes) return 0;
    try {
      const file = this.#file ?? this.#open();
      writeSync(file.descriptor, text);
      file.size += text.length;
      this.#bytes += text.length;
      if (file.size >= segmentBytes) this.#seal();
      return rows.length;
    } catch {
      // A full disk must not stop the traffic.
      this.#seal();
      return 0;
    }
  }

  /**
   * Hands out the rows, oldest first, in batches; a segment goes when all of its batches were written. Stops and
   * returns false as soon as `write` returns false. Rows may be handed out again after that: writing them twice
   * must be harmless.
   */
  async replay(batchRows: number, write: (rows: RequestLogRow[]) => Promise<boolean>): Promise<boolean> {
    this.#seal();
    for (const name of [...this.#segments]) {
      if (name === this.#file?.name) return true;
      const path = join(this.#directory, name);
      const content = readFileSync(path);
      const rows = content.toString("utf8").split("\n").flatMap(parseLine);
      for (let at = 0; at < rows.length; at += batchRows) {
        if (!(await write(rows.slice(at, at + batchRows)))) return false;
      }
      unlinkSync(path);
      this.#segments = this.#segments.filter((segment) => segment !== name);
      this.#bytes -= content.length;
    }
    return true;
  }

  async close(): Promise<void> {
    this.#seal();
  }

  #open(): { descriptor: number; name: string; size: number } {
    const name = `${String(Date.now()).padStart(15, "0")}-${String(this.#number++ % 1_000_000).padStart(6, "0")}.ndjson`;
    const descriptor = openSync(join(this.#directory, name), "a", 0o600);
    this.#file = { descriptor, name, size: 0 };
    this.#segments.push(name);
    return this.#file;
  }

  #seal(): void {
    if (!this.#file) return;
    closeSync(this.#file.descriptor);
    this.#file = null;
  }
}

function parseLine(line: string): RequestLogRow[] {
  if (line === "") return [];
  try {
    const row = lineSchema.safeParse(JSON.parse(line));
    return row.success ? [row.data] : [];
  } catch {
    return [];
  }
}
