import { closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * A power cut costs at most what was appended within this time, plus the time of a flush. It is longer than a batch
 * takes to the database (250 ms), which saves the flush while the database keeps up.
 */
const syncEveryMs = 400;

/**
 * Flushes a file in groups of appends, without delaying any: a call's answer doesn't wait for the disk. Rows that the
 * database gets meanwhile need no flush.
 */
export class GroupSync {
  #timer: NodeJS.Timeout | null = null;
  #isSyncing = false;
  #again = false;
  #closing: (() => void) | null = null;
  #isNamed = false;
  readonly #descriptor: number;
  readonly #path: string;

  constructor(descriptor: number, path: string) {
    this.#descriptor = descriptor;
    this.#path = path;
  }

  /** Rows were appended. `isNeeded`: called when their turn has come. */
  appended(isNeeded: () => boolean): void {
    if (this.#isSyncing) this.#again = true;
    if (this.#timer !== null || this.#isSyncing) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (isNeeded()) this.#sync(isNeeded);
    }, syncEveryMs);
    this.#timer.unref();
  }

  /** Closes the file after a running flush. `isNeeded`: its rows are nowhere else, so flush first. */
  close(isNeeded: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const close = () => closeSync(this.#descriptor);
    if (isNeeded || this.#isSyncing) this.#closing = close;
    else close();
    if (isNeeded && !this.#isSyncing) this.#sync(() => false);
  }

  /** Flushes at once, because the process ends. */
  flush(): void {
    try {
      fdatasyncSync(this.#descriptor);
      this.#nameOnce((directory) => {
        fsyncSync(directory);
        closeSync(directory);
      });
    } catch {
      // The disk fails: the rows are as safe as it permits.
    }
  }

  #sync(isNeeded: () => boolean): void {
    this.#isSyncing = true;
    this.#again = false;
    fdatasync(this.#descriptor, () => {
      this.#isSyncing = false;
      // In the background as well: a busy disk would block all calls for milliseconds.
      this.#nameOnce((directory) => fsync(directory, () => closeSync(directory)));
      if (this.#closing !== null) this.#closing();
      else if (this.#again) this.appended(isNeeded);
    });
  }

  /** The name of a new file is flushed with its directory. `flush` closes that, too. */
  #nameOnce(flush: (directory: number) => void): void {
    if (this.#isNamed) return;
    this.#isNamed = true;
    try {
      flush(openSync(dirname(this.#path), "r"));
    } catch {
      // The directory was removed: the file is no longer needed.
    }
  }
}
