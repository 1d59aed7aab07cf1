import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BuildCaches } from "../../port/builds.ts";
import { directoryBytes } from "../disk.ts";
import { bootId } from "../process/boot-directory.ts";
import { removeDirectory } from "../process/remove-directory.ts";
import { syncPath } from "../process/sync-path.ts";

/** Where an organization's cache is. */
export const cacheOf = (dataDirectory: string, organizationId: string) =>
  join(dataDirectory, "cache", "uv", organizationId);

/**
 * Discards all caches when the machine has been restarted: uv flushes nothing, so a power cut may have left files without
 * their content, which builds would install. Where builds begin, once for each process.
 */
export async function discardCachesOfEarlierBoot(dataDirectory: string): Promise<void> {
  const [mark, boot] = [join(dataDirectory, "cache", "uv-boot"), await bootId()];
  const earlier = await readFile(mark, "utf8").catch(() => null);
  if (earlier === boot) return;
  // Of several processes, one moves them: the name is taken then.
  if (earlier !== null) {
    await mkdir(join(dataDirectory, "trash"), { recursive: true });
    await rename(cacheOf(dataDirectory, ""), join(dataDirectory, "trash", `caches-before-${boot}`)).catch(() => {});
  }
  await mkdir(dirname(mark), { recursive: true });
  await writeFile(mark, boot);
  for (const path of [mark, dirname(mark)]) await syncPath(path);
}

/**
 * The caches of organizations, as directories. They are renamed out of use before they are deleted, so a killed process
 * leaves nothing half-deleted in use.
 */
export function hostCaches(dataDirectory: string): BuildCaches {
  const trash = join(dataDirectory, "trash");
  return {
    sizes: (signal) => directoryBytes(cacheOf(dataDirectory, ""), signal),
    async discard(organizationId) {
      await mkdir(trash, { recursive: true });
      await rename(cacheOf(dataDirectory, organizationId), join(trash, randomUUID()));
    },
    async removeDiscarded(before, signal) {
      let removed = 0;
      for (const name of await readdir(trash).catch(() => [])) {
        if (signal?.aborted) break;
        const found = await stat(join(trash, name)).catch(() => null);
        // The change time: when it was moved here.
        if (found === null || found.ctimeMs > before.getTime()) continue;
        await removeDirectory(join(trash, name));
        removed += 1;
      }
      return removed;
    },
  };
}
