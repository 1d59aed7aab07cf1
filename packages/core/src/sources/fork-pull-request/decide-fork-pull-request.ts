import { branch, forkPullRequest } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { actingUserId, authorizeProject } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { enqueueReport, forkBranchName, lockBranch } from "../../delivery/branch/index.ts";
import { enqueueBuild, insertBuild } from "../../delivery/build/internal.ts";
import { shortCommit } from "../../delivery/build/version.schema.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { type DecisionInput, decisionSchema } from "./fork-pull-request.schema.ts";

/**
 * Approves or declines the head of a pull request from a fork (BLD-9). An approval is for the commit that the member looked
 * at and builds it as a preview, without variables; the next push waits again. What was declined can be approved later.
 *
 * @returns the build of an approval
 * @throws TowpathError `not_found`; `conflict` when the pull request has another head by now, is closed, or was decided
 *   about; `out_of_storage`
 */
export async function decideForkPullRequest(call: Call<DecisionInput>): Promise<{ readonly buildId: string | null }> {
  const { ctx } = call;
  const { project, organization } = await authorizeProject(ctx, "build.approve", scopeOf(call.input));
  const input = parseInput(decisionSchema, call.input);
  const approves = input.decision === "approve";
  if (approves) await requireStorageForBuilds(ctx);
  return ctx.db.transaction(async (tx) => {
    const named = and(eq(branch.projectId, project.id), eq(branch.name, forkBranchName(input.number)));
    const [found] = await tx.select({ id: branch.id }).from(branch).where(named);
    if (!found) throw notFound("pull request");
    const own = await lockBranch(tx, found.id);
    const ofBranch = eq(forkPullRequest.branchId, own.id);
    const [fork] = await tx.select().from(forkPullRequest).where(ofBranch).for("update");
    if (!fork) throw notFound("pull request");
    if (own.endedAt || fork.state === "closed") throw new TowpathError("conflict", "This pull request is closed.");
    if (fork.commitSha !== input.commitSha) {
      throw new TowpathError(
        "conflict",
        `The pull request has a newer commit, ${shortCommit(fork.commitSha)}. Look at its changes and decide about that one.`,
      );
    }
    if (fork.state === "approved" || (fork.state === "declined" && !approves)) {
      throw new TowpathError("conflict", `This commit was already ${fork.state}.`);
    }
    const decidedByUserId = actingUserId(ctx);
    const state = approves ? "approved" : "declined";
    await tx.update(forkPullRequest).set({ state, decidedByUserId, decidedAt: ctx.clock.now() }).where(ofBranch);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: `fork.${input.decision}`,
      subject: own.name,
      detail: { commit: fork.commitSha, repository: fork.repositoryFullName, author: fork.author },
    });
    if (!approves) {
      await enqueueReport(tx, ctx, own.id);
      return { buildId: null };
    }
    const commit = { sha: fork.commitSha, message: fork.commitMessage, author: fork.commitAuthor };
    const row = await insertBuild(tx, ctx, { project, branchId: own.id, commit, trigger: "push" });
    await enqueueBuild(tx, ctx, row.id);
    return { buildId: row.id };
  });
}

const scopeOf = (input: DecisionInput) =>
  "projectId" in input ? { projectId: input.projectId } : { orgSlug: input.orgSlug, projectName: input.projectName };
