import type { GitCheckout } from "@towpath/core/ports";
import type { Commit } from "@towpath/core/projects/project/schema";
import { isFile, listTree, readBlobs, sizesOf } from "./objects.ts";
import type { Scratch } from "./scratch.ts";

const maxReadBytes = 1024 * 1024;

/** Files are read from the repository's objects: none of them is ever written under a name that a stranger chose. */
export async function openCheckout(
  commit: Commit,
  scratch: Scratch,
  signal: AbortSignal | undefined,
): Promise<GitCheckout> {
  const entries = await listTree(commit.sha, { scratch, signal });
  const files = new Map(entries.filter(isFile).map(({ path, oid }) => [path, oid]));
  return {
    commit,
    paths: async () => [...files.keys()],
    has: async (path) => files.has(path),
    async read(path) {
      const oid = files.get(path);
      if (oid === undefined) return null;
      const size = (await sizesOf([oid], { scratch })).get(oid);
      if (size === undefined || size > maxReadBytes) return null;
      return (await readBlobs([oid], { scratch })).get(oid)?.toString("utf8") ?? null;
    },
    close: scratch.close,
  };
}
