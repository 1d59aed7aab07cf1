import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

export class NoRoom extends Error {
  override readonly name = "NoRoom";
  readonly neededBytes: number;
  readonly freeBytes: number;

  constructor(neededBytes: number, freeBytes: number) {
    super(`The copy needs ${neededBytes} bytes, and ${freeBytes} are free.`);
    this.neededBytes = neededBytes;
    this.freeBytes = freeBytes;
  }
}

/** Sum of the sizes of a directory's files. Those that are removed meanwhile don't count. */
export async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(unlessMissing))?.size ?? 0;
  return bytes;
}

/** @throws NoRoom when the file system of a directory has fewer bytes left */
export async function requireRoom(neededBytes: number, directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < neededBytes) throw new NoRoom(neededBytes, bavail * bsize);
}

export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
