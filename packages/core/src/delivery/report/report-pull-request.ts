import { createHash } from "node:crypto";
import {
  branch,
  build,
  callReplay,
  deployment,
  forkPullRequest,
  project,
  pullRequestComment,
  route,
} from "@towpath/db/schema";
import { and, asc, desc, eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { buildStatusSchema } from "../build/build-contract.schema.ts";
import { readDiagnosis } from "../build/internal.ts";
import { surfaceChangesOf } from "../surface/internal.ts";
import { claimPullRequest, ofPullRequest, type PullRequestKey } from "./claim.ts";
import { type CommentedServer, commentText, markOf } from "./comment-text.ts";
import type { GitHubReporter, ReportAddress } from "./report.port.ts";
import { reportedReplay } from "./reported-replay.ts";

export type PullRequestPlace = {
  readonly key: PullRequestKey;
  readonly address: ReportAddress;
  readonly orgSlug: string;
};

/**
 * Updates the one comment of a pull request, for all servers of the organization that are deployed from the repository.
 * A comment that somebody deleted is written again at the next change; one whose id was lost is found by its mark.
 */
export async function reportPullRequest(call: {
  readonly ctx: Context<"secrets">;
  readonly at: PullRequestPlace;
  readonly reporter: GitHubReporter;
}): Promise<"reported" | "busy"> {
  const { ctx, reporter } = call;
  const { key, address, orgSlug } = call.at;
  const claim = await claimPullRequest(ctx.db, key);
  if (!claim) return "busy";
  try {
    const servers = await readServers(ctx, key, orgSlug);
    const body = commentText(key.organizationId, servers);
    const content = createHash("sha256").update(body).digest("hex");
    const [reported] = await ctx.db.select().from(pullRequestComment).where(ofPullRequest(key));
    if (reported?.content === content) return "reported";
    const known = reported?.commentId ?? null;
    // A pull request that was closed before it was ever commented gets no comment.
    if (known === null && servers.every(({ isEnded }) => isEnded)) return "reported";
    await claim.renew();
    const commentId = await reporter.comment(
      address,
      { number: key.number, body, mark: markOf(key.organizationId) },
      known,
    );
    await ctx.db.update(pullRequestComment).set({ commentId, content }).where(ofPullRequest(key));
    return "reported";
  } finally {
    await claim.release();
  }
}

const newestBuild = sql`${build.sequence} = (SELECT max(sequence) FROM build AS other WHERE other.branch_id = ${branch.id})`;

async function readServers(
  ctx: Context<"secrets">,
  key: PullRequestKey,
  orgSlug: string,
): Promise<readonly CommentedServer[]> {
  const rows = await ctx.db
    .selectDistinctOn([project.name], {
      projectId: project.id,
      name: project.name,
      branch,
      fork: forkPullRequest.state,
      build: {
        id: build.id,
        status: build.status,
        commitSha: build.commitSha,
        packageVersion: build.packageVersion,
        diagnosis: build.diagnosis,
      },
      slug: deployment.slug,
      replay: callReplay,
      setting: { replay: project.replay, checkQuestions: project.checkQuestions },
    })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .leftJoin(forkPullRequest, eq(forkPullRequest.branchId, branch.id))
    .leftJoin(build, and(eq(build.branchId, branch.id), newestBuild))
    .leftJoin(callReplay, and(eq(callReplay.branchId, branch.id), eq(callReplay.commitSha, build.commitSha)))
    .leftJoin(route, eq(route.branchId, branch.id))
    .leftJoin(deployment, eq(deployment.id, route.deploymentId))
    .where(
      and(
        eq(project.organizationId, key.organizationId),
        eq(project.repositoryId, key.repositoryId),
        eq(branch.pullRequestNumber, key.number),
      ),
    )
    .orderBy(asc(project.name), desc(branch.createdAt));
  return Promise.all(
    rows.map(async ({ projectId, name, fork, slug, ...row }) => {
      const unbuilt = (["waiting", "declined", "closed"] as const).find((state) => state === fork);
      const isBuilt = row.build?.status === "succeeded";
      return {
        page: { dashboardUrl: ctx.dashboardUrl, orgSlug, project: name },
        isEnded: row.branch.endedAt !== null,
        head: unbuilt ?? (row.branch.skippedCommitSha === null ? null : ("skipped" as const)),
        build: row.build && {
          id: row.build.id,
          status: buildStatusSchema.parse(row.build.status),
          commitSha: row.build.commitSha,
          packageVersion: row.build.packageVersion,
          cause: readDiagnosis(row.build.diagnosis)?.title ?? null,
        },
        replay: isBuilt ? reportedReplay(ctx.secrets, row.replay, row.setting) : null,
        previewUrl: slug === null ? null : mcpUrl(ctx.serverUrlTemplate, slug),
        surface:
          isBuilt && row.build
            ? await surfaceChangesOf(ctx, { projectId, buildId: row.build.id, against: "production" })
            : null,
      };
    }),
  );
}
