import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RequestLogRow } from "@towpath/logs";
import { SpoolDirectory } from "./spool-directory.ts";
import { headLine, rowsOfSegment } from "./spool-lines.ts";

const segmentBytes = 1024 * 1024;
/** Of the gateway as a whole. */
export const maxSpoolBytes = 1024 * 1024 * 1024;
/** Pause after a failed write. */
const pauseMs = 1000;

/** A file of rows, deleted when no row needs it any more. */
export type Segment = {
  readonly name: string;
  /** Bytes in the file, and how many of them are each project's. */
  bytes: number;
  readonly bytesOfProject: Map<string, number>;
  /** Rows that are also held in memory and are not in the database yet. */
  heldRows: number;
  /** Some of its rows are nowhere else: it must be read. */
  mustReplay: boolean;
};

/** What a row to be kept counts for. `bytes`: the length of its line. */
export type SpoolEntry = { readonly row: Pick<RequestLogRow, "projectId">; readonly bytes: number };

/**
 * Rows on disk until the database has them: segments of JSON lines (spool-lines.ts). Appends are synchronous: when `append` returns,
 * the operating system has the rows, and a gateway that is killed loses none of them. Not synced to the disk: a power
 * cut may lose the last seconds.
 *
 * Only the process that owns a segment appends to it, reads it or deletes it (SpoolDirectory).
 */
export class Spool {
  readonly #root: string;
  #directory: SpoolDirectory | null = null;
  readonly #maxBytes: number;
  readonly #segments = new Map<string, Segment>();
  readonly #bytesOfProject = new Map<string, number>();
  #bytes = 0;
  #file: { descriptor: number; segment: Segment } | null = null;
  #pausedUntil = 0;

  private constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
  }

  /**
   * Opens this process's spool in a directory that processes share. Never rejects: without a directory, as on a full
   * disk, `append` returns null, and each `adopt` tries again to make one.
   */
  static async open(root: string, { maxBytes = maxSpoolBytes }: { maxBytes?: number } = {}): Promise<Spool> {
    const spool = new Spool(root, maxBytes);
    spool.#directory = await SpoolDirectory.create(root).catch(() => null);
    return spool;
  }

  /**
   * Takes over the segments of processes that have ended.
   *
   * @throws Error of the file system
   */
  async adopt(): Promise<void> {
    this.#directory ??= await SpoolDirectory.create(this.#root);
    const taken: string[] = [];
    try {
      for await (const name of this.#directory.takeAbandoned()) taken.push(name);
    } finally {
      // Names sort by age: the oldest rows are written first.
      for (const name of taken.sort()) await this.#register(join(this.#directory.path, name), name);
    }
  }

  async #register(path: string, name: string): Promise<void> {
    const { size: bytes } = await stat(path);
    this.#segments.set(name, { name, bytes, bytesOfProject: new Map(), heldRows: 0, mustReplay: true });
    this.#bytes += bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A project may use as much as it leaves free: one that floods the log gets half, and the rest stays for others. */
  hasRoomFor(projectId: string, bytes: number): boolean {
    return (this.#bytesOfProject.get(projectId) ?? 0) + bytes <= this.#maxBytes - this.#bytes - bytes;
  }

  /**
   * Keeps the lines of some rows, all or none. Returns their segment, whose `heldRows` counts them: call `release` for
   * each. Null when the disk is full or fails; it is tried again a second later.
   */
  append(entries: readonly SpoolEntry[], lines: string): Segment | null {
    if (performance.now() < this.#pausedUntil) return null;
    const content = Buffer.from(lines);
    try {
      const { descriptor, segment } = this.#file ?? this.#open();
      this.#writeWhole(descriptor, segment, content);
      segment.heldRows += entries.length;
      for (const { row, bytes } of entries) {
        addTo(segment.bytesOfProject, row.projectId, bytes);
        addTo(this.#bytesOfProject, row.projectId, bytes);
      }
      this.#bytes += content.length;
      if (segment.bytes >= segmentBytes) this.#seal();
      return segment;
    } catch {
      // A full disk must not stop traffic.
      this.#pausedUntil = performance.now() + pauseMs;
      this.#seal();
      return null;
    }
  }

  /** Rows that memory no longer holds. `areWritten`: the database has them, else the file alone has. */
  release(segment: Segment, rows: number, { areWritten }: { areWritten: boolean }): void {
    segment.heldRows -= rows;
    if (!areWritten) segment.mustReplay = true;
    this.#removeIfDone(segment);
  }

  /** The oldest segment with rows that are nowhere else and that is due, as rows; null when there is none. */
  async nextToReplay(
    isDue: (segment: Segment) => boolean,
  ): Promise<{ segment: Segment; rows: RequestLogRow[] } | null> {
    for (const segment of this.#segments.values()) {
      if (!segment.mustReplay || !isDue(segment)) continue;
      if (segment === this.#file?.segment) this.#seal();
      const content = await readFile(this.#pathOf(segment), "utf8");
      return { segment, rows: rowsOfSegment(content) };
    }
    return null;
  }

  /** All of the segment's rows are in the database. */
  replayed(segment: Segment): void {
    segment.mustReplay = false;
    this.#removeIfDone(segment);
  }

  /** Rows that are still on disk are left to the next process. */
  async close(): Promise<void> {
    this.#seal();
    await this.#directory?.close();
  }

  #open(): { descriptor: number; segment: Segment } {
    if (!this.#directory) throw new Error("the spool has no directory");
    const segment = {
      name: this.#directory.newSegmentName(),
      bytes: 0,
      bytesOfProject: new Map(),
      heldRows: 0,
      mustReplay: false,
    };
    const descriptor = openSync(this.#pathOf(segment), "a", 0o600);
    this.#file = { descriptor, segment };
    this.#segments.set(segment.name, segment);
    const head = Buffer.from(headLine);
    this.#writeWhole(descriptor, segment, head);
    this.#bytes += head.length;
    return this.#file;
  }

  #pathOf({ name }: Segment): string {
    if (!this.#directory) throw new Error("there are no segments without a directory");
    return join(this.#directory.path, name);
  }

  /** A nearly full disk may accept part of a write: truncate the file to its last complete line. */
  #writeWhole(descriptor: number, segment: Segment, content: Buffer): void {
    try {
      if (writeSync(descriptor, content) === content.length) {
        segment.bytes += content.length;
        return;
      }
    } catch (error) {
      ftruncateSync(descriptor, segment.bytes);
      throw error;
    }
    ftruncateSync(descriptor, segment.bytes);
    throw new Error("the disk is full");
  }

  #seal(): void {
    if (!this.#file) return;
    const { descriptor, segment } = this.#file;
    this.#file = null;
    closeSync(descriptor);
    this.#removeIfDone(segment);
  }

  #removeIfDone(segment: Segment): void {
    if (segment.heldRows > 0 || segment.mustReplay || !this.#segments.delete(segment.name)) return;
    if (segment === this.#file?.segment) this.#seal();
    this.#bytes -= segment.bytes;
    for (const [projectId, bytes] of segment.bytesOfProject) addTo(this.#bytesOfProject, projectId, -bytes);
    rmSync(this.#pathOf(segment), { force: true });
  }
}

function addTo(bytesOfProject: Map<string, number>, projectId: string, bytes: number): void {
  const sum = (bytesOfProject.get(projectId) ?? 0) + bytes;
  if (sum === 0) bytesOfProject.delete(projectId);
  else bytesOfProject.set(projectId, sum);
}
