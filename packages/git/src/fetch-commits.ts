import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitCommitRef } from "@towpath/core/ports";
import type { Connection } from "./connection.ts";
import { hasCommit } from "./objects.ts";
import { noLongerThere, publicProblem, tooLarge } from "./problems.ts";
import { GitFailure, type GitRun, runGit } from "./run-git.ts";
import type { Scratch } from "./scratch.ts";

export type FetchOptions = {
  /** The branch that should contain them; null: the one that HEAD names. */
  readonly branch: string | null;
  /** git's `--filter`, for hosts that can leave objects out. */
  readonly filter?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** Depths of history to search for a commit, at hosts that serve heads of branches only. */
const depths = [1, 50, 1000];

async function initRepository({ repository }: Scratch, sha: string, run: GitRun): Promise<void> {
  const format = sha.length === 64 ? "sha256" : "sha1";
  await runGit(["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, repository], run);
}

/** Makes the scratch directory's repository, and fetches commits of a branch into it: see `fetchCommits`. */
export async function fetchInto(
  { sha, branch }: GitCommitRef,
  shas: readonly string[],
  connection: Connection,
  scratch: Scratch,
  options: Omit<FetchOptions, "branch">,
): Promise<void> {
  await initRepository(scratch, sha, { scratch, signal: options.signal });
  await fetchCommits(shas, connection, scratch, { branch, ...options });
}

/**
 * Fetches commits without their history into the scratch directory's repository.
 *
 * @throws TowpathError `not_found` for one that the host doesn't have; as `publicProblem`
 */
export async function fetchCommits(
  shas: readonly string[],
  connection: Connection,
  scratch: Scratch,
  options: FetchOptions,
): Promise<void> {
  const { host } = connection.endpoint;
  try {
    const failure = await fetchRefs(shas, 1, connection, scratch, options);
    if (failure !== null) await deepen(shas, failure, connection, scratch, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error instanceof GitFailure && error.reason === "too_large"
      ? tooLarge(scratch.maxBytes)
      : publicProblem(error, host);
  }
}

/** Fetches all that a commit in the repository needs, its history too, in place of what it has. @throws GitFailure */
export async function fetchHistory(
  sha: string,
  { endpoint, env }: Connection,
  scratch: Scratch,
  options: Pick<FetchOptions, "timeoutMs" | "signal">,
): Promise<void> {
  const args = ["fetch", ...quietly, "--refetch", "--unshallow", "--", endpoint.url, `+${sha}:refs/towpath/0`];
  await runGit(args, { scratch, env, ...options });
}

const quietly = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"];

/** @returns the failure when the host doesn't serve one of them by this name */
async function fetchRefs(
  names: readonly string[],
  depth: number,
  { endpoint, env }: Connection,
  scratch: Scratch,
  { filter, timeoutMs, signal }: FetchOptions,
): Promise<GitFailure | null> {
  const partial = filter === undefined ? [] : [`--filter=${filter}`];
  const specs = names.map((name, at) => `+${name}:refs/towpath/${at}`);
  const args = ["fetch", ...quietly, ...partial, `--depth=${depth}`, "--", endpoint.url, ...specs];
  const config = join(scratch.repository, "config");
  const settings = await readFile(config);
  try {
    await runGit(args, { scratch, env, timeoutMs, signal });
    return null;
  } catch (error) {
    if (error instanceof GitFailure && error.reason === "failed" && isNotServed(error.stderr)) return error;
    throw error;
  } finally {
    // With a filter, git records the host as a promisor remote and would fetch missing objects from it later.
    if (filter !== undefined) await writeFile(config, settings);
  }
}

const isNotServed = (stderr: string) =>
  /not our ref|unadvertised object|couldn't find remote ref|no such remote ref|not a valid object|unknown ref/i.test(
    stderr,
  );

/** The host serves branches' heads only, or no longer has the commit: looks for it in the branch's history. */
async function deepen(
  shas: readonly string[],
  failure: GitFailure,
  connection: Connection,
  scratch: Scratch,
  options: FetchOptions,
): Promise<void> {
  const { host } = connection.endpoint;
  const [first = ""] = shas;
  // git's own server says this only if the object doesn't exist.
  if (/not our ref/.test(failure.stderr)) throw noLongerThere(first, host);
  const ref = options.branch === null ? "HEAD" : `refs/heads/${options.branch}`;
  for (const depth of depths) {
    if ((await fetchRefs([ref], depth, connection, scratch, options)) !== null) throw noLongerThere(first, host);
    const have = await Promise.all(shas.map((sha) => hasCommit(sha, { scratch, signal: options.signal })));
    if (have.every(Boolean)) return;
  }
  throw noLongerThere(first, host);
}
