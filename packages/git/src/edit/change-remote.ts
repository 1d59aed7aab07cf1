import { TowpathError } from "@towpath/core/errors";
import type { FileChanges } from "@towpath/core/ports";
import type { Commit } from "@towpath/core/projects/project/schema";
import { branchNameSchema } from "@towpath/core/sources/source/schema";
import type { Connection } from "../connection.ts";
import { fetchHistory, fetchInto } from "../fetch-commits.ts";
import { readCommit } from "../read-commit.ts";
import { movedOn } from "../repositories/branch-head.ts";
import { deniedPush, reasonOf, refusedPush } from "../repositories/push-problems.ts";
import { GitFailure, runGit } from "../run-git.ts";
import type { Scratch } from "../scratch.ts";
import { commitChanges } from "./change-files.ts";

type At = { readonly scratch: Scratch; readonly connection: Connection; readonly timeoutMs: number };

const own = "refs/towpath/changed";

/** Fetches the parent's trees, commits on top of it and pushes: see `GitFiles.change`. */
export async function changeRemote(
  { branch, parent, ...rest }: FileChanges,
  { scratch, connection, timeoutMs }: At,
  signal?: AbortSignal,
): Promise<Commit> {
  const run = { scratch, signal };
  await fetchInto(parent, [parent.sha], connection, scratch, { filter: "blob:none", timeoutMs, signal });
  const made = await commitChanges({ branch, parent, ...rest }, own, run);
  const ref = `refs/heads/${branchNameSchema.parse(branch)}`;
  const isNew = branch !== parent.branch;
  // Replaces exactly the head that was edited, or makes the branch.
  const lease = `--force-with-lease=${ref}:${isNew ? "" : parent.sha}`;
  const flags = ["--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no", lease];
  const { endpoint, env } = connection;
  const push = () => runGit(["push", ...flags, "--", endpoint.url, `${made}:${ref}`], { ...run, env, timeoutMs });
  try {
    await push().catch(async (error: unknown) => {
      if (!needsHistory(error)) throw error;
      await fetchHistory(parent.sha, connection, scratch, { timeoutMs, signal }).catch(() => {
        throw error;
      });
      await push();
    });
  } catch (error) {
    throw pushProblem(error, endpoint.host, branch, isNew);
  }
  return readCommit(made, { scratch });
}

/** The host has the parent in no branch any more. */
const needsHistory = (error: unknown) =>
  error instanceof GitFailure && error.stderr.includes("shallow update not allowed");

/** The public error of a failed push. Others are returned unchanged. */
function pushProblem(error: unknown, host: string, branch: string, isNew: boolean): unknown {
  if (!(error instanceof GitFailure) || error.reason !== "failed") return error;
  const { stderr } = error;
  const conflict = (message: string) => new TowpathError("conflict", message, { cause: error });
  if (/stale info|fetch first|non-fast-forward/.test(stderr))
    return isNew ? conflict(`There is a branch ${branch} already. Choose another name.`) : movedOn(branch);
  if (/GH006|GH013|protected branch|rule violations|not allowed to push/i.test(stderr))
    return conflict(`${host} protects ${branch}: ${reasonOf(stderr)} Commit to a new branch and open a pull request.`);
  if (needsHistory(error))
    return conflict(
      `The commit that your change is made on is in no branch of ${host} any more, so nothing can be put on top of it. Keep a copy of your text, open another branch and make the change there.`,
    );
  if (deniedPush.test(stderr))
    return conflict(`${host} doesn't let this account or credential push to the repository. Nothing was changed.`);
  if (refusedPush.test(stderr)) return conflict(`${host} refuses the commit: ${reasonOf(stderr)}`);
  return error;
}
