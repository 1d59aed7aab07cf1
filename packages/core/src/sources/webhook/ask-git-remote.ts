import type { Context, GitServices } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { BranchAtSource, GitHeads, GitReader } from "../../ports/index.ts";
import { forgetHead, openGitSource, recordFailure } from "../source/internal.ts";
import type { SyncTarget } from "./settle-branch.ts";

/**
 * A branch's state at a Git URL, or in a repository of this instance. A host that refuses leaves its problem at the source, and the next check that succeeds
 * looks at the branch again.
 *
 * @throws TowpathError `upstream_unavailable`; the job is then retried
 */
export async function askGitRemote(
  ctx: Context<GitServices>,
  { project: of, branch, git }: SyncTarget,
  since: string | null,
): Promise<BranchAtSource> {
  if (git === null) return { kind: "no-access" };
  let reader: GitReader;
  let refs: GitHeads;
  try {
    reader = await openGitSource(ctx, of.organizationId, git, "check");
    refs = await reader.refs();
  } catch (error) {
    if (!(error instanceof TowpathError) || error.code === "upstream_unavailable") throw error;
    await recordFailure(ctx, git, error);
    await forgetHead(ctx.db, of.id, branch.name);
    return { kind: "no-access" };
  }
  const defaultBranch = git.branch ?? refs.defaultBranch ?? of.defaultBranch;
  const isFollowed = git.previews || branch.isDefault || branch.name === defaultBranch;
  const sha = refs.branches.get(branch.name);
  const seen = { kind: "seen", github: null, defaultBranch, changedPaths: null, pullRequests: [] } as const;
  if (sha === undefined || !isFollowed) return { ...seen, head: null, withoutPreview: sha !== undefined };
  const at = { branch: branch.name, sha };
  // Rewritten since the question: the job is retried.
  const head = await reader.commit(at);
  const comparable = since !== null && since !== sha;
  return { ...seen, head, changedPaths: comparable ? await reader.changedPaths(since, at) : null };
}
