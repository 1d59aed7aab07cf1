import { branch, build, githubUser, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { decideForkPullRequest } from "../../sources/fork-pull-request/index.ts";
import { pullRequestOfForkBranch } from "../branch/index.ts";
import { cancelBuild, redeployBuild } from "../build/index.ts";
import { branchOfHeadCheck } from "./check-text.ts";

export type CheckAction = {
  /** A button of the check run, or GitHub's own to run it again. */
  readonly action: "cancel" | "approve" | "rerun";
  /** What we named the check run by. */
  readonly externalId: string;
  readonly commitSha: string;
  readonly repositoryId: number;
  /** Who pressed it, by number at GitHub. */
  readonly githubUserId: number;
};

/**
 * Does what somebody asked for at a check run (BLD-8), as the account here that has authorized the App with that GitHub
 * account, and with its permissions: the right to write to the repository gives none here. `refused`: no member of the
 * organization has authorized that account, or has the permission, or there is nothing left to do.
 */
export async function actFromCheck({ ctx, input }: Call<CheckAction>): Promise<"done" | "refused"> {
  authorizePlatform(ctx);
  const target = await findTarget(ctx, input);
  if (!target) return "refused";
  const people = await ctx.db
    .select({ id: githubUser.userId })
    .from(githubUser)
    .where(eq(githubUser.githubUserId, input.githubUserId));
  for (const { id: userId } of people) {
    try {
      await act({ ...ctx, actor: { kind: "user", userId, ipAddress: null } }, target, input);
      return "done";
    } catch (error) {
      // Also when it has ended or was decided meanwhile: GitHub has no place for the text.
      if (!(error instanceof TowpathError)) throw error;
    }
  }
  return "refused";
}

type Target = { readonly projectId: string; readonly branchName: string; readonly buildId: string | null };

async function findTarget(ctx: Context, input: CheckAction): Promise<Target | undefined> {
  const branchId = branchOfHeadCheck(input.externalId);
  const ofRepository = eq(project.repositoryId, input.repositoryId);
  const columns = { projectId: project.id, branchName: branch.name };
  if (branchId !== null) {
    const [row] = await ctx.db
      .select(columns)
      .from(branch)
      .innerJoin(project, eq(project.id, branch.projectId))
      .where(and(eq(branch.id, branchId), ofRepository));
    return row && { ...row, buildId: null };
  }
  if (!isId(input.externalId)) return undefined;
  const [row] = await ctx.db
    .select({ ...columns, buildId: build.id })
    .from(build)
    .innerJoin(branch, eq(branch.id, build.branchId))
    .innerJoin(project, eq(project.id, build.projectId))
    .where(and(eq(build.id, input.externalId), eq(build.commitSha, input.commitSha), ofRepository));
  return row;
}

async function act(ctx: Context, target: Target, { action, commitSha }: CheckAction): Promise<void> {
  const { buildId, projectId } = target;
  if (action === "approve") {
    const number = pullRequestOfForkBranch(target.branchName) ?? 0;
    await decideForkPullRequest({ ctx, input: { projectId, number, commitSha, decision: "approve" } });
  } else if (buildId === null) throw new TowpathError("conflict", "There is no build.");
  else if (action === "cancel") await cancelBuild({ ctx, input: { buildId } });
  else await redeployBuild({ ctx, input: { buildId } });
}
