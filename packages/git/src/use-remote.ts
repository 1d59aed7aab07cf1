import type { GitCommitRef, GitRemote } from "@towpath/core/ports";
import { commitShaSchema } from "@towpath/core/projects/project/schema";
import { branchNameSchema } from "@towpath/core/sources/source/schema";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { noLongerThere, publicProblem } from "./problems.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { requirePinning } from "./version.ts";

/** `directory`: also for scratch directories. */
export type GitRemotesOptions = Omit<ConnectionOptions, "probeTimeoutMs"> & {
  /** On disk for one task, including submodules and LFS files. Default: 1 GiB. */
  readonly maxBytes?: number;
  readonly timeouts?: { readonly probeMs?: number; readonly refsMs?: number; readonly fetchMs?: number };
};

/** With defaults. */
export function remoteLimits(options: GitRemotesOptions) {
  const { maxBytes = 1024 ** 3, timeouts = {} } = options;
  const { probeMs = 20_000, refsMs = 30_000, fetchMs = 5 * 60_000 } = timeouts;
  return { maxBytes, refsMs, fetchMs, connection: { ...options, probeTimeoutMs: probeMs } };
}

/**
 * Runs tasks with a connected scratch directory each. `keep`: the task's result removes the directory later.
 */
export function useRemote(options: GitRemotesOptions) {
  const { directory } = options;
  const { maxBytes, connection } = remoteLimits(options);
  return async function use<T>(
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
  };
}

/** Both become arguments of a command. */
export function parseAt(at: GitCommitRef, { endpoint }: Connection): GitCommitRef {
  const isValid = commitShaSchema.safeParse(at.sha).success && branchNameSchema.safeParse(at.branch).success;
  if (!isValid) throw noLongerThere(at.sha, endpoint.host);
  return at;
}
