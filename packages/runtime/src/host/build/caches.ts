import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BuildCaches } from "../../port/builds.ts";
import { directoryBytes } from "../disk.ts";
import { removeDirectory } from "../process/remove-directory.ts";

/** Where an organization's cache is. */
export const cacheOf = (dataDirectory: string, organizationId: string) =>
  join(dataDirectory, "cache", "uv", organizationId);

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
