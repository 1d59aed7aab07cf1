import type { OpenedFiles } from "@towpath/core/ports";
import { isFile, listTree, readSmallBlob } from "../objects.ts";
import { readCommit } from "../read-commit.ts";
import type { GitRun } from "../run-git.ts";
import { searchFiles } from "./search-files.ts";

/** Files of a commit that the repository has. `close` does nothing. */
export async function openFiles(sha: string, run: GitRun): Promise<OpenedFiles> {
  const [commit, entries] = await Promise.all([readCommit(sha, run), listTree(sha, run)]);
  const files = new Map(entries.filter(isFile).map(({ path, oid }) => [path, oid]));
  const later = { ...run, signal: undefined };
  return {
    commit,
    paths: async () => [...files.keys()],
    read: (path) => readSmallBlob(files.get(path), later),
    search: (text, most) => searchFiles(sha, text, most, later),
    close: async () => {},
  };
}
