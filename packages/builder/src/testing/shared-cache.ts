import { mkdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Builds of one organization run as one user, who owns the cache. */
export const cachingOrganization = "01900000-0000-7000-8000-000000000001";

/** uv's cache of all tests on this machine, so that each package is downloaded and compiled once. */
const sharedCache = join(tmpdir(), `towpath-test-packages-${process.getuid?.()}`);

/**
 * Makes it the cache of `cachingOrganization` in a new data directory: compiling FastMCP and its dependencies takes 40
 * processor seconds.
 */
export async function shareCache(dataDirectory: string): Promise<void> {
  const caches = join(dataDirectory, "cache", "uv");
  await Promise.all([mkdir(caches, { recursive: true }), mkdir(sharedCache, { recursive: true })]);
  await symlink(sharedCache, join(caches, cachingOrganization));
}
