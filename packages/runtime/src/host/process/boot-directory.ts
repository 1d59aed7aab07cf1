import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { removeDirectory } from "./remove-directory.ts";

/** This boot of the machine. */
export async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "unknown")).trim();
}

/**
 * The directory below `parent` for copies that can be made again and are never flushed: a power cut may have lost what
 * was written last, so those of earlier boots are removed.
 */
export async function bootDirectory(parent: string): Promise<string> {
  const current = `boot-${await bootId()}`;
  await mkdir(join(parent, current), { recursive: true });
  // Another process may be removing the same one.
  for (const name of await readdir(parent))
    if (name.startsWith("boot-") && name !== current) await removeDirectory(join(parent, name)).catch(() => {});
  return join(parent, current);
}
