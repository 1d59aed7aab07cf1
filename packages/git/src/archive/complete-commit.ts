import { TowpathError } from "@towpath/core/errors";
import type { GitRemote } from "@towpath/core/ports";
import { type Connection, connect } from "../connection.ts";
import { fetchCommits } from "../fetch-commits.ts";
import { listTree, type TreeEntry } from "../objects.ts";
import { printable, tooLargeDetail } from "../problems.ts";
import { gitText, runGit } from "../run-git.ts";
import type { Scratch } from "../scratch.ts";
import type { ArchiveOptions } from "./archive.ts";
import { includeLfsFiles } from "./lfs-files.ts";
import { readSubmoduleUrls, remoteOfSubmodule } from "./submodule-urls.ts";

const maxSubmodules = 20;
const maxDepth = 3;

type Progress = { submodules: number };

/**
 * Adds submodules and LFS files, which a commit only refers to, by git's replacement objects: the commit keeps its id
 * and date, and `git archive` of it contains them. Nothing is written to files.
 */
export async function completeCommit(
  sha: string,
  scratch: Scratch,
  connection: Connection,
  options: ArchiveOptions,
): Promise<void> {
  await complete(sha, "", scratch, connection, options, { submodules: 0 }, 0);
}

async function complete(
  sha: string,
  prefix: string,
  scratch: Scratch,
  connection: Connection,
  options: ArchiveOptions,
  progress: Progress,
  depth: number,
): Promise<void> {
  const { signal } = options;
  const entries = await listTree(sha, { scratch, signal });
  await includeLfsFiles(entries, prefix, scratch, connection, options);
  const links = entries.filter(({ mode }) => mode === "160000");
  if (links.length === 0) return;
  const urls = await readSubmoduleUrls(entries, { scratch, signal });
  const fetched: TreeEntry[] = [];
  for (const link of links) {
    const path = `${prefix}${link.path}`;
    try {
      if (depth >= maxDepth) throw left(`submodules are nested deeper than ${maxDepth}`);
      progress.submodules += 1;
      if (progress.submodules > maxSubmodules) throw left(`there are more than ${maxSubmodules} submodules`);
      const remote = remoteOfSubmodule(urls.get(link.path) ?? null, connection);
      const connected = await fetchSubmodule(remote, link.oid, scratch, options);
      await complete(link.oid, `${path}/`, scratch, connected, options, progress, depth + 1);
      fetched.push(link);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TowpathError) || error.detail === tooLargeDetail) throw error;
      options.warn({ title: `Submodule ${printable(path)} is missing`, detail: error.message });
    }
  }
  if (fetched.length > 0) await replaceLinks(sha, fetched, scratch, signal);
}

const left = (reason: string) => new TowpathError("invalid_input", `It was left out, because ${reason}.`);

async function fetchSubmodule(
  remote: GitRemote,
  sha: string,
  scratch: Scratch,
  options: ArchiveOptions,
): Promise<Connection> {
  const { connection, signal, timeoutMs } = options;
  const connected = await connect(remote, scratch, connection, signal);
  await fetchCommits([sha], connected, scratch, { branch: null, timeoutMs, signal });
  return connected;
}

/** Replaces the commit's tree by one with the submodules' files. */
async function replaceLinks(
  sha: string,
  links: readonly TreeEntry[],
  scratch: Scratch,
  signal: AbortSignal,
): Promise<void> {
  // Only the index is read, but git requires a work tree.
  const env = { GIT_INDEX_FILE: `${scratch.directory}/index`, GIT_WORK_TREE: scratch.directory };
  const run = { scratch, env, signal };
  const tree = (await gitText(["rev-parse", "--verify", `${sha}^{tree}`], run)).trim();
  await runGit(["read-tree", sha], run);
  const none = "0".repeat(sha.length);
  await runGit(["update-index", "-z", "--index-info"], {
    ...run,
    input: links.map(({ path }) => `0 ${none}\t${path}\0`).join(""),
  });
  for (const { path, oid } of links) await runGit(["read-tree", `--prefix=${path}/`, oid], run);
  const complete = (await gitText(["write-tree"], run)).trim();
  await runGit(["update-ref", `refs/replace/${tree}`, complete], run);
}
