import { openSync, renameSync } from "node:fs";
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

const reserveBytes = 4 * 1024 * 1024;
/** A reserve is made only if the disk has this many times its size free. */
const minFreeFactor = 16;
const fileName = "reserve";

/**
 * Space of a process's spool for a full disk: a file whose blocks are allocated, because it was written with zeros. It
 * becomes a segment, which is overwritten from the beginning; readers skip the zeros after its rows.
 */
export class SpoolReserve {
  readonly #directory: string;
  #isThere = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Creates it unless it exists or the disk is nearly full. Never rejects. */
  async make(): Promise<void> {
    if (this.#isThere) return;
    const path = join(this.#directory, fileName);
    try {
      const { bavail, bsize } = await statfs(this.#directory);
      if (bavail * bsize < reserveBytes * minFreeFactor) return;
      const file = await open(path, "w", 0o600);
      await file.writeFile(Buffer.alloc(reserveBytes)).finally(() => file.close());
      this.#isThere = true;
    } catch {
      await rm(path, { force: true }).catch(() => {});
    }
  }

  /** Turns it into the segment of this name, open for writing; null if there is none. */
  take(name: string): { readonly descriptor: number; readonly bytes: number } | null {
    if (!this.#isThere) return null;
    this.#isThere = false;
    try {
      const path = join(this.#directory, name);
      renameSync(join(this.#directory, fileName), path);
      return { descriptor: openSync(path, "r+"), bytes: reserveBytes };
    } catch {
      return null;
    }
  }

  async remove(): Promise<void> {
    this.#isThere = false;
    await removeReserve(this.#directory);
  }
}

/** Removes the reserve of a process that has ended. */
export const removeReserve = (directory: string): Promise<void> => rm(join(directory, fileName), { force: true });
