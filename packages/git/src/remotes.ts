import { TowpathError } from "@towpath/core/errors";
import type { GitCommitRef, GitReader, GitRemote, GitRemotes } from "@towpath/core/ports";
import { commitShaSchema } from "@towpath/core/projects/project/schema";
import { archiveOf } from "./archive/archive.ts";
import { openCheckout } from "./checkout.ts";
import type { Connection } from "./connection.ts";
import { type FetchOptions, fetchInto } from "./fetch-commits.ts";
import { readCommit } from "./read-commit.ts";
import { parseRefs, refListLimit } from "./refs.ts";
import { GitFailure, gitText } from "./run-git.ts";
import type { Scratch } from "./scratch.ts";
import { type GitRemotesOptions, parseAt, remoteLimits, useRemote } from "./use-remote.ts";

/** Reads repositories behind Git URLs with the `git` program. It keeps nothing but host keys between calls. */
export function createGitRemotes(options: GitRemotesOptions): GitRemotes {
  const { refsMs, fetchMs, connection } = remoteLimits(options);
  const use = useRemote(options);

  const fetch = (
    at: GitCommitRef,
    shas: readonly string[],
    scratch: Scratch,
    connected: Connection,
    more: Pick<FetchOptions, "filter" | "signal">,
  ) => fetchInto(at, shas, connected, scratch, { timeoutMs: fetchMs, ...more });

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
        await fetch(at, [at.sha], scratch, connected, { filter: "blob:none", signal });
        return readCommit(at.sha, { scratch });
      }),
    checkout: (given, signal) =>
      use(remote, signal, true, async (scratch, connected) => {
        const at = parseAt(given, connected);
        await fetch(at, [at.sha], scratch, connected, { filter: "blob:limit=1m", signal });
        return openCheckout(await readCommit(at.sha, { scratch }), scratch, signal);
      }),
    changedPaths: (since, given, signal) =>
      use(remote, signal, false, async (scratch, connected) => {
        const at = parseAt(given, connected);
        if (!commitShaSchema.safeParse(since).success || since.length !== at.sha.length) return null;
        try {
          await fetch(at, [since, at.sha], scratch, connected, { filter: "blob:none", signal });
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
        await fetch(at, [at.sha], scratch, connected, { signal });
        return archiveOf(at.sha, scratch, connected, { connection, warn, signal, timeoutMs: fetchMs });
      }),
  });
  return { open };
}
