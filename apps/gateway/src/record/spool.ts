import { ftruncateSync, openSync, writeSync } from "node:fs";
import { readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { RequestLogRow } from "@towpath/logs";
import { GroupSync } from "./group-sync.ts";
import { SpoolDirectory } from "./spool-directory.ts";
import { headLine, rowsOfSegment } from "./spool-lines.ts";
import { SpoolReserve } from "./spool-reserve.ts";

const segmentBytes = 1024 * 1024;
/** For the gateway as a whole. */
export const maxSpoolBytes = 1024 * 1024 * 1024;
/** Pause after a failed write. */
const pauseMs = 1000;

/** A file of rows, deleted when no row needs it any more. */
export type Segment = {
  readonly name: string;
  /** Bytes in the file, and how many of them belong to each project. */
  bytes: number;
  readonly bytesOfProject: Map<string, number>;
  /** Rows that are also held in memory and are not in the database yet. */
  heldRows: number;
  /** Some of its rows are nowhere else: it must be read. */
  mustReplay: boolean;
};

/** A segment that nothing is appended to any more, and its file. */
export type Sealed = { readonly segment: Segment; readonly path: string };

/** The database doesn't have all of its rows. */
export const isPending = ({ heldRows, mustReplay }: Segment) => heldRows > 0 || mustReplay;

type OpenFile = {
  readonly descriptor: number;
  readonly segment: Segment;
  readonly sync: GroupSync;
  /** At this size it is full. */
  readonly maxBytes: number;
};

/** What the spool needs of a row. `bytes`: the length of its line. */
export type SpoolEntry = { readonly row: Pick<RequestLogRow, "projectId">; readonly bytes: number };

/**
 * Rows on disk until the database has them: segments of JSON lines (spool-lines.ts). Appends are synchronous: when
 * `append` returns, the operating system has the rows, and a killed gateway loses none of them. They are flushed in
 * groups, within half a second unless the database has them by then: a power cut may cost that much. Only the process
 * that owns a segment appends to it, reads it or deletes it (SpoolDirectory).
 */
export class Spool {
  readonly #root: string;
  #directory: SpoolDirectory | null = null;
  readonly #maxBytes: number;
  readonly #segments = new Map<string, Segment>();
  readonly #bytesOfProject = new Map<string, number>();
  #bytes = 0;
  #file: OpenFile | null = null;
  #reserve: SpoolReserve | null = null;
  /** Files that are being removed. */
  readonly #removals = new Set<Promise<void>>();
  #pausedUntil = 0;

  private constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
  }

  /**
   * Opens this process's spool in a directory that processes share. Never rejects: without a directory, as on a full
   * disk, `append` returns null, and each `adopt` tries again to create one.
   */
  static async open(root: string, { maxBytes = maxSpoolBytes }: { maxBytes?: number } = {}): Promise<Spool> {
    const spool = new Spool(root, maxBytes);
    await spool.#makeDirectory().catch(() => {});
    return spool;
  }

  /**
   * Takes over the segments of processes that have ended.
   *
   * @throws Error of the file system
   */
  async adopt(): Promise<void> {
    const directory = await this.#makeDirectory();
    const taken: string[] = [];
    try {
      for await (const name of directory.takeAbandoned()) taken.push(name);
    } finally {
      // Names sort by age: the oldest rows are written first.
      for (const name of taken.sort()) await this.#register(join(directory.path, name), name);
    }
  }

  async #makeDirectory(): Promise<SpoolDirectory> {
    this.#directory ??= await SpoolDirectory.create(this.#root);
    this.#reserve ??= new SpoolReserve(this.#directory.path);
    await this.#reserve.make();
    return this.#directory;
  }

  async #register(path: string, name: string): Promise<void> {
    const { size: bytes } = await stat(path);
    this.#segments.set(name, { name, bytes, bytesOfProject: new Map(), heldRows: 0, mustReplay: true });
    this.#bytes += bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A project may use as much as remains free: one that floods the log gets half, and the rest stays for others. */
  hasRoomFor(projectId: string, bytes: number): boolean {
    return (this.#bytesOfProject.get(projectId) ?? 0) + bytes <= this.#maxBytes - this.#bytes - bytes;
  }

  /**
   * Keeps the lines of some rows, all or none. Returns their segment, whose `heldRows` counts them: call `release` for
   * each. Null when the disk is full or fails; it is retried a second later.
   */
  append(entries: readonly SpoolEntry[], lines: string): Segment | null {
    if (performance.now() < this.#pausedUntil) return null;
    const content = Buffer.from(lines);
    try {
      const file = this.#writeLines(content);
      const { segment } = file;
      segment.heldRows += entries.length;
      for (const { row, bytes } of entries) {
        addTo(segment.bytesOfProject, row.projectId, bytes);
        addTo(this.#bytesOfProject, row.projectId, bytes);
      }
      this.#bytes += content.length;
      file.sync.appended(() => isPending(segment));
      if (segment.bytes >= file.maxBytes) this.#seal();
      return segment;
    } catch {
      // A full disk must not stop traffic.
      this.#pausedUntil = performance.now() + pauseMs;
      this.#seal();
      return null;
    }
  }

  /** All segments that have rows which the database lacks. Begins a new one, if rows are appended later. */
  sealPending(): Sealed[] {
    if (this.#file && isPending(this.#file.segment)) this.#seal();
    const pending = [...this.#segments.values()].filter((segment) => isPending(segment));
    return pending.map((segment) => ({ segment, path: this.#pathOf(segment) }));
  }

  has(name: string): boolean {
    return this.#segments.has(name);
  }

  /** Rows that memory no longer holds. `areWritten`: they are in the database, else only in the file. */
  release(segment: Segment, rows: number, { areWritten }: { areWritten: boolean }): void {
    segment.heldRows -= rows;
    if (!areWritten) segment.mustReplay = true;
    this.#removeIfDone(segment);
  }

  /** The oldest due segment with rows that are nowhere else, as rows; null if there is none. */
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

  /** The next process takes rows that are still on disk. */
  async close(): Promise<void> {
    if (this.#file && isPending(this.#file.segment)) this.#file.sync.flush();
    this.#seal();
    await Promise.all(this.#removals);
    await this.#reserve?.remove().catch(() => {});
    await this.#directory?.close();
  }

  /** On a full disk the lines go to the reserve. */
  #writeLines(content: Buffer): OpenFile {
    try {
      const file = this.#file ?? this.#open(null);
      this.#writeWhole(file, content);
      return file;
    } catch (error) {
      this.#seal();
      const name = this.#directory?.newSegmentName();
      const taken = name === undefined ? null : (this.#reserve?.take(name) ?? null);
      if (name === undefined || taken === null) throw error;
      const file = this.#open({ ...taken, name });
      this.#writeWhole(file, content);
      return file;
    }
  }

  #open(reserve: { readonly name: string; readonly descriptor: number; readonly bytes: number } | null): OpenFile {
    if (!this.#directory) throw new Error("the spool has no directory");
    const segment = {
      name: reserve?.name ?? this.#directory.newSegmentName(),
      bytes: 0,
      bytesOfProject: new Map(),
      heldRows: 0,
      mustReplay: false,
    };
    const path = this.#pathOf(segment);
    const descriptor = reserve?.descriptor ?? openSync(path, "wx", 0o600);
    const file = {
      descriptor,
      segment,
      sync: new GroupSync(descriptor, path),
      maxBytes: reserve?.bytes ?? segmentBytes,
    };
    this.#file = file;
    this.#segments.set(segment.name, segment);
    const head = Buffer.from(headLine);
    this.#writeWhole(file, head);
    this.#bytes += head.length;
    return file;
  }

  #pathOf({ name }: Segment): string {
    if (!this.#directory) throw new Error("there are no segments without a directory");
    return join(this.#directory.path, name);
  }

  /** A nearly full disk may accept part of a write: truncate the file to its last complete line. */
  #writeWhole({ descriptor, segment }: OpenFile, content: Buffer): void {
    try {
      if (writeSync(descriptor, content, 0, content.length, segment.bytes) === content.length) {
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
    const { descriptor, segment, sync, maxBytes } = this.#file;
    this.#file = null;
    // The rest of a reserve has no rows.
    if (maxBytes !== segmentBytes) ftruncateSync(descriptor, segment.bytes);
    sync.close(isPending(segment));
    this.#removeIfDone(segment);
  }

  #removeIfDone(segment: Segment): void {
    if (isPending(segment) || !this.#segments.delete(segment.name)) return;
    if (segment === this.#file?.segment) this.#seal();
    this.#bytes -= segment.bytes;
    for (const [projectId, bytes] of segment.bytesOfProject) addTo(this.#bytesOfProject, projectId, -bytes);
    // A busy disk takes milliseconds. If this process is killed meanwhile, the rows are written a second time.
    const removal = unlink(this.#pathOf(segment))
      .catch(() => {})
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }
}

function addTo(bytesOfProject: Map<string, number>, projectId: string, bytes: number): void {
  const sum = (bytesOfProject.get(projectId) ?? 0) + bytes;
  if (sum === 0) bytesOfProject.delete(projectId);
  else bytesOfProject.set(projectId, sum);
}
