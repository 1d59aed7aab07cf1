import { closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * A power cut costs at most what was appended within this time, plus the time of a flush. Longer than a batch takes to the
 * database (250 ms), which saves the flush while the database keeps up.
 */
const syncEveryMs = 400;

/**
 * Flushes a file that is being appended to, for all appends of a while together, and without holding any of them up: a
 * call's answer doesn't wait for the disk. Rows that the database gets meanwhile need no flush.
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

  /** Rows were appended. `isNeeded`: asked when their turn has come. */
  appended(isNeeded: () => boolean): void {
    if (this.#isSyncing) this.#again = true;
    if (this.#timer !== null || this.#isSyncing) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (isNeeded()) this.#sync(isNeeded);
    }, syncEveryMs);
    this.#timer.unref();
  }

  /** Closes the file, after a flush that is under way. `isNeeded`: its rows are only here, so that it is flushed first. */
  close(isNeeded: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const close = () => closeSync(this.#descriptor);
    if (isNeeded || this.#isSyncing) this.#closing = close;
    else close();
    if (isNeeded && !this.#isSyncing) this.#sync(() => false);
  }

  /** Flushes at once: the process ends. */
  flush(): void {
    try {
      fdatasyncSync(this.#descriptor);
      this.#nameOnce((directory) => {
        fsyncSync(directory);
        closeSync(directory);
      });
    } catch {
      // A disk that fails: the rows are as safe as it lets them be.
    }
  }

  #sync(isNeeded: () => boolean): void {
    this.#isSyncing = true;
    this.#again = false;
    fdatasync(this.#descriptor, () => {
      this.#isSyncing = false;
      // In the background as well: a busy disk takes milliseconds, during which no call would be handled.
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
      // The directory was removed: nobody needs the file any more.
    }
  }
}
