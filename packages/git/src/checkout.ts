import type { GitCheckout } from "@towpath/core/ports";
import type { Commit } from "@towpath/core/projects/project/schema";
import { isFile, listTree, readSmallBlob } from "./objects.ts";
import type { Scratch } from "./scratch.ts";

/** Files are read from the repository's objects: none of them is ever written under a name that a stranger chose. */
export async function openCheckout(
  commit: Commit,
  scratch: Scratch,
  signal: AbortSignal | undefined,
): Promise<GitCheckout> {
  const entries = await listTree(commit.sha, { scratch, signal });
  const files = new Map(entries.filter(isFile).map(({ path, oid }) => [path, oid]));
  const readFile = async (path: string) => readSmallBlob(files.get(path), { scratch });
  return {
    commit,
    paths: async () => [...files.keys()],
    has: async (path) => files.has(path),
    read: async (path) => (await readFile(path))?.toString("utf8") ?? null,
    close: scratch.close,
  };
}
