import { TowpathError } from "@towpath/core/errors";
import type { GitCommitRef, GitReader, GitRemote, GitRemotes } from "@towpath/core/ports";
import { commitShaSchema } from "@towpath/core/projects/project/schema";
import { branchNameSchema } from "@towpath/core/sources/source/schema";
import { archiveOf } from "./archive/archive.ts";
import { openCheckout } from "./checkout.ts";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { type FetchOptions, fetchCommits, initRepository } from "./fetch-commits.ts";
import { noLongerThere, publicProblem } from "./problems.ts";
import { readCommit } from "./read-commit.ts";
import { parseRefs, refListLimit } from "./refs.ts";
import { GitFailure, gitText } from "./run-git.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { requirePinning } from "./version.ts";

/** `directory`: also for scratch directories. */
export type GitRemotesOptions = Omit<ConnectionOptions, "probeTimeoutMs"> & {
  /** On disk for one task, including submodules and LFS files. Default: 1 GiB. */
  readonly maxBytes?: number;
  readonly timeouts?: { readonly probeMs?: number; readonly refsMs?: number; readonly fetchMs?: number };
};

/** Reads repositories behind Git URLs with the `git` program. It keeps nothing but host keys between calls. */
export function createGitRemotes(options: GitRemotesOptions): GitRemotes {
  const { directory, maxBytes = 1024 ** 3, timeouts = {} } = options;
  const { probeMs = 20_000, refsMs = 30_000, fetchMs = 5 * 60_000 } = timeouts;
  const connection = { ...options, probeTimeoutMs: probeMs };

  /** Runs `task` with a connected scratch directory. `keep`: the task's result removes the directory later. */
  async function use<T>(
    remote: GitRemote,
    signal: AbortSignal | undefined,
    keep: boolean,
    task: (scratch: Scratch, connection: Connection) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const scratch = await openScratch(directory, maxBytes);
    let isKept = false;
    try {
      await requirePinning(scratch);
      const connected = await connect(remote, scratch, connection, signal);
      const result = await task(scratch, connected).catch((error: unknown) => {
        throw publicProblem(error, connected.endpoint.host);
      });
      isKept = keep;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      throw publicProblem(error, "The Git host");
    } finally {
      if (!isKept) await scratch.close();
    }
  }

  const fetchInto = async (
    at: GitCommitRef,
    shas: readonly string[],
    scratch: Scratch,
    connected: Connection,
    more: Pick<FetchOptions, "filter" | "signal">,
  ) => {
    await initRepository(scratch, at.sha, { scratch, signal: more.signal });
    await fetchCommits(shas, connected, scratch, { branch: at.branch, timeoutMs: fetchMs, ...more });
  };

  const open = (remote: GitRemote): GitReader => ({
    refs: () =>
      use(remote, undefined, false, async (scratch, { endpoint, env }) => {
        const args = ["ls-remote", "--symref", "--quiet", "--", endpoint.url, "HEAD", "refs/heads/*"];
        const limits = { timeoutMs: refsMs, maxOutputBytes: refListLimit.maxOutputBytes };
        const text = await gitText(args, { scratch, env, signal: undefined, ...limits }).catch((error: unknown) => {
          const isLong = error instanceof GitFailure && error.reason === "too_much_output";
          throw isLong ? refListLimit.problem() : error;
        });
        return { url: endpoint.url, ...parseRefs(text) };
      }),
    commit: (given, signal) =>
      use(remote, signal, false, async (scratch, connected) => {
        const at = parseAt(given, connected);
        await fetchInto(at, [at.sha], scratch, connected, { filter: "blob:none", signal });
        return readCommit(at.sha, { scratch });
      }),
    checkout: (given, signal) =>
      use(remote, signal, true, async (scratch, connected) => {
        const at = parseAt(given, connected);
        await fetchInto(at, [at.sha], scratch, connected, { filter: "blob:limit=1m", signal });
        return openCheckout(await readCommit(at.sha, { scratch }), scratch, signal);
      }),
    changedPaths: (since, given, signal) =>
      use(remote, signal, false, async (scratch, connected) => {
        const at = parseAt(given, connected);
        if (!commitShaSchema.safeParse(since).success || since.length !== at.sha.length) return null;
        try {
          await fetchInto(at, [since, at.sha], scratch, connected, { filter: "blob:none", signal });
        } catch (error) {
          if (error instanceof TowpathError && error.code === "not_found") return null;
          throw error;
        }
        const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", since, at.sha];
        const text = await gitText(args, { scratch, signal });
        return text.split("\0").filter((path) => path !== "");
      }),
    tarball: (given, { warn, signal }) =>
      use(remote, signal, true, async (scratch, connected) => {
        const at = parseAt(given, connected);
        await fetchInto(at, [at.sha], scratch, connected, { signal });
        return archiveOf(at.sha, scratch, connected, { connection, warn, signal, timeoutMs: fetchMs });
      }),
  });
  return { open };
}

/** Both become arguments of a command. */
function parseAt(at: GitCommitRef, { endpoint }: Connection): GitCommitRef {
  const isValid = commitShaSchema.safeParse(at.sha).success && branchNameSchema.safeParse(at.branch).success;
  if (!isValid) throw noLongerThere(at.sha, endpoint.host);
  return at;
}
