import { readFile } from "node:fs/promises";
import { processTree } from "./tree.ts";

const pageBytes = 4096;

/**
 * Memory of a process and everything below it, bytes; null when it is gone. Pages that several share are divided
 * among them where the kernel tells (PSS), else counted for each (RSS).
 */
export async function treeMemoryBytes(pid: number): Promise<number | null> {
  const each = await Promise.all((await processTree(pid)).map(memoryBytesOf));
  const known = each.filter((bytes) => bytes !== null);
  return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
}

async function memoryBytesOf(pid: number): Promise<number | null> {
  try {
    const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    if (kibibytes !== undefined) return Number(kibibytes) * 1024;
  } catch {
    // Another user's, or gone.
  }
  try {
    const resident = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1];
    return resident === undefined ? null : Number(resident) * pageBytes;
  } catch {
    return null;
  }
}
