import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";

/** Replaces a snapshot, which is JSON, in the state directory by rename: a reader never sees half of one. */
export async function writeSnapshot(directory: string, name: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The content of the last snapshot of this name, or null if none can be read. */
export async function readSnapshot<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): Promise<z.output<Schema> | null> {
  try {
    return schema.parse(JSON.parse(await readFile(join(directory, name), "utf8")));
  } catch {
    return null;
  }
}
