import { lstat, readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ExitReason } from "../../port/execution.ts";
import { isOfLayer } from "./share-with-cache.ts";

/** Short enough that a build can't fill the reserve between two checks. */
const freeEveryMs = 50;
/** Needed in addition, because free space doesn't show the build's writes while others delete files. */
const measureEveryMs = 15_000;
/** Max entries of a build's own directory, and max entries of the cache that are counted. */
const maxEntries = 500_000;
/** Share of the file system's inodes that stays free: empty files use no space, but can fill a disk all the same. */
const minFreeInodes = 1 / 50;

export type DiskLimits = {
  /** The build's own directory, on the file system of the platform's data. */
  readonly directory: string;
  /** Shared with other builds of the organization, so only its growth counts. */
  readonly cache: string;
  /** What the build may write to both. */
  readonly maxBytes: number;
  /** Space that must stay free on its file system: all tenants share the disk. */
  readonly minFreeBytes: number;
  /** For tests. */
  readonly maxEntries?: number;
};

export type DiskWatch = {
  /** Aborted when a limit is exceeded. */
  readonly exceeded: AbortSignal;
  /** Which limit was exceeded; null while none was. */
  reason(): Extract<ExitReason, "disk-limit" | "disk-full"> | null;
  /** Starts watching; what the cache already holds doesn't count. */
  start(): void;
  stop(): void;
};

/**
 * Watches how much a build writes while packages' build scripts run. Without quotas the kernel can't limit a directory,
 * so a build can overshoot by what it writes between two checks. The kernel does limit each file, and refuses to
 * reserve space in one call (see the sandbox's `fileBytes` and system call filter). Both are measured only when enough
 * was written since the last time for the build to have reached its limit, or after a while: looking at each file of a
 * large cache takes seconds of processor time, and most builds end before it is needed once.
 */
export function watchDisk(limits: DiskLimits): DiskWatch {
  const { directory, cache, maxBytes, minFreeBytes, maxEntries: most = maxEntries } = limits;
  const controller = new AbortController();
  const { signal } = controller;
  let base: { readonly free: number; readonly headroom: number; readonly time: number } | null = null;
  let measuring = false;
  let since: number | null = null;
  const measure = async (free: number, sinceMs: number) => {
    measuring = true;
    try {
      const [own, shared] = await Promise.all([
        measureDirectory(directory, 0, most, signal),
        measureDirectory(cache, sinceMs, maxEntries, signal),
      ]);
      const bytes = own.bytes + shared.bytes;
      if (bytes > maxBytes || own.entries > most) controller.abort("disk-limit");
      base = { free, headroom: maxBytes - bytes, time: performance.now() };
    } finally {
      measuring = false;
    }
  };
  const check = async () => {
    const { bavail, bsize, files, ffree } = await statfs(directory);
    const free = bavail * bsize;
    // Some file systems create inodes as needed, and report none.
    if (free < minFreeBytes || ffree < files * minFreeInodes) controller.abort("disk-full");
    // By the file system's clock, like the times that it is compared with. The build has written nothing so far.
    since ??= (await stat(directory)).ctimeMs;
    base ??= { free, headroom: maxBytes, time: performance.now() };
    if (signal.aborted || measuring) return;
    const due = base.free - free > base.headroom || performance.now() - base.time > measureEveryMs;
    if (due) await measure(free, since);
  };
  // If the check itself fails, the build continues.
  const checkQuietly = () => void check().catch(() => {});
  let timer: NodeJS.Timeout | null = null;
  return {
    exceeded: signal,
    reason: () => (signal.aborted ? signal.reason : null),
    start() {
      if (timer !== null) return;
      checkQuietly();
      timer = setInterval(checkQuietly, freeEveryMs);
      timer.unref();
    },
    stop: () => clearInterval(timer ?? undefined),
  };
}

/**
 * The entries below a directory, and the bytes on disk of its files. Ignores files that vanish meanwhile, and the bytes
 * of files that layers share with a cache.
 *
 * @param sinceMs files whose inode last changed before it don't count; unlike other times, programs can't set that one
 */
async function measureDirectory(
  root: string,
  sinceMs: number,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly entries: number }> {
  let bytes = 0;
  let entries = 0;
  const waiting = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const children = await readdir(path, { withFileTypes: true }).catch(() => []);
    entries += children.length;
    if (signal.aborted || entries > most) break;
    const files: string[] = [];
    for (const child of children) (child.isDirectory() ? waiting : files).push(join(path, child.name));
    const sizes = await Promise.all(
      files.map((file) =>
        lstat(file).then(
          (found) => (found.ctimeMs < sinceMs || isOfLayer(found) ? 0 : found.blocks * 512),
          () => 0,
        ),
      ),
    );
    for (const size of sizes) bytes += size;
  }
  return { bytes, entries };
}
