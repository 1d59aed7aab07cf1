import { open } from "node:fs/promises";

/** Flushes the content of a file, or the names in a directory, to the disk: until then a power cut may undo it. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}
