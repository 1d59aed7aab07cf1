import {
  branch,
  branchReport,
  build,
  buildReport,
  callReplay,
  deployment,
  deploymentApproval,
  forkPullRequest,
  organization,
  project,
  route,
} from "@towpath/db/schema";
import { and, desc, eq, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import {
  type BuiltFrom,
  builtFromNow,
  builtFromOf,
  isSameSource,
  reachableNow,
} from "../../sources/source/internal.ts";
import { activeDeployments } from "../branch/index.ts";
import type { BuildStatus, Diagnosis } from "../build/build-contract.schema.ts";
import { buildStatusSchema } from "../build/build-contract.schema.ts";
import { readDiagnosis } from "../build/internal.ts";
import type { ReportedReplay } from "./replay-text.ts";
import type { ReportAddress } from "./report.port.ts";
import { reportedReplay } from "./reported-replay.ts";

export type ReportedBuild = {
  readonly id: string;
  readonly commitSha: string;
  readonly status: BuildStatus;
  readonly trigger: string;
  readonly diagnosis: Diagnosis | null;
  readonly isLive: boolean;
  /** State of the approval that it needs for production; null: none. */
  readonly approval: string | null;
  /** Its last gradual release. */
  readonly release: { readonly state: string; readonly share: number; readonly reason: string | null } | null;
  readonly url: string | null;
  /** The repository of GitHub that it was built from; null: of another kind, or one that no installation reads. */
  readonly github: { readonly address: ReportAddress; readonly repositoryId: number } | null;
  /** Of its commit; null: none, or replaced by a newer one's. */
  readonly replay: ReportedReplay | null;
  /** What was last reported of it to its host; null: nothing. */
  readonly reported: typeof buildReport.$inferSelect | null;
};

/** A head that has no build, and why. */
export type Head = { readonly sha: string; readonly why: "waiting" | "declined" | "closed" | "skipped" };

/** A branch as it is to be reported. */
export type BranchState = {
  readonly branch: typeof branch.$inferSelect;
  readonly project: typeof project.$inferSelect;
  readonly orgSlug: string;
  readonly fork: typeof forkPullRequest.$inferSelect | null;
  readonly reported: typeof branchReport.$inferSelect | null;
  /** Where the server is built from now; null: not at GitHub, or no installation reads the repository. */
  readonly address: ReportAddress | null;
  /**
   * Newest first: those that run or ended lately, and those whose deployment GitHub takes for live. Of the server's source,
   * or of an earlier one that is at GitHub.
   */
  readonly builds: readonly ReportedBuild[];
  readonly head: Head | null;
  /** Commits of a fork's builds that the repository's own branches have as well: their checks are not the fork's. */
  readonly ownCommits: ReadonlySet<string>;
};

const maxBuilds = 20;

/** Null for a branch that doesn't exist (any more). */
export async function readBranchState(ctx: Context<"secrets">, branchId: string): Promise<BranchState | null> {
  const [of] = await ctx.db
    .select({ branch, project, orgSlug: organization.slug, fork: forkPullRequest, reported: branchReport })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoin(forkPullRequest, eq(forkPullRequest.branchId, branch.id))
    .leftJoin(branchReport, eq(branchReport.branchId, branch.id))
    .where(eq(branch.id, branchId));
  if (!of) return null;
  const address = githubOf(await builtFromNow(ctx.db, of.project))?.address ?? null;
  const builds = await readBuilds(ctx, branchId, of.project);
  const head = headOf(of.branch, of.fork);
  const commits = [...new Set([...builds.map(({ commitSha }) => commitSha), ...(head ? [head.sha] : [])])];
  const ownCommits = of.fork ? await builtOfOwnBranches(ctx, of.project.id, commits) : new Set<string>();
  return { ...of, address, builds, head, ownCommits };
}

/** Other sources have no API to report to. */
function githubOf(from: BuiltFrom | null): ReportedBuild["github"] {
  if (from?.kind !== "github" || from.installationId === null) return null;
  const { installationId, repositoryId } = from;
  const [owner, name] = from.fullName.split("/");
  return owner && name ? { address: { installationId, owner, name }, repositoryId } : null;
}

function headOf(of: BranchState["branch"], fork: BranchState["fork"]): Head | null {
  const unbuilt = ["waiting", "declined", "closed"] as const;
  const why = unbuilt.find((each) => each === fork?.state);
  if (fork && why) return { sha: fork.commitSha, why };
  return of.skippedCommitSha === null ? null : { sha: of.skippedCommitSha, why: "skipped" };
}

/** What ended counts for an hour, so that an earlier version's builds aren't all reported at once. */
async function readBuilds(
  ctx: Context<"secrets">,
  branchId: string,
  of: BranchState["project"],
): Promise<readonly ReportedBuild[]> {
  const lately = or(isNull(build.endedAt), sql`${build.endedAt} > now() - interval '1 hour'`);
  const servedAtGitHub = and(
    isNotNull(buildReport.deploymentId),
    or(inArray(buildReport.deploymentState, activeDeployments), isNotNull(route.deploymentId)),
  );
  const decidedLately = sql`(${deploymentApproval.state} = 'waiting' OR ${deploymentApproval.decidedAt} > now() - interval '1 hour'
    OR EXISTS (SELECT FROM gradual_release release WHERE release.candidate_deployment_id = ${deployment.id}
      AND (release.ended_at IS NULL OR release.ended_at > now() - interval '1 hour')))`;
  // They may run, or be run again, long after the build.
  const replayedLately = or(
    inArray(callReplay.state, ["waiting", "running"]),
    sql`${callReplay.endedAt} > now() - interval '1 hour'`,
  );
  const rows = await ctx.db
    .select({
      id: build.id,
      commitSha: build.commitSha,
      builtFrom: build.builtFrom,
      packageVersion: build.packageVersion,
      createdAt: build.createdAt,
      status: build.status,
      trigger: build.trigger,
      diagnosis: build.diagnosis,
      slug: deployment.slug,
      live: route.deploymentId,
      approval: deploymentApproval.state,
      release: sql<ReportedBuild["release"]>`(
        SELECT json_build_object('state', release.state, 'share', release.share, 'reason', release.reason)
        FROM gradual_release release WHERE release.candidate_deployment_id = ${deployment.id}
        ORDER BY release.started_at DESC LIMIT 1)`,
      replay: callReplay,
      reported: buildReport,
    })
    .from(build)
    .leftJoin(buildReport, eq(buildReport.buildId, build.id))
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .leftJoin(callReplay, and(eq(callReplay.branchId, build.branchId), eq(callReplay.commitSha, build.commitSha)))
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .leftJoin(deploymentApproval, eq(deploymentApproval.deploymentId, deployment.id))
    .where(and(eq(build.branchId, branchId), or(lately, servedAtGitHub, decidedLately, replayedLately)))
    .orderBy(desc(build.sequence))
    .limit(maxBuilds);
  const now = await builtFromNow(ctx.db, of);
  const reported: ReportedBuild[] = [];
  for (const { slug, live, builtFrom, packageVersion, createdAt, ...row } of rows) {
    const from = builtFromOf({ ...row, builtFrom, packageVersion, createdAt }, of, now);
    const github = from && githubOf(await reachableNow(ctx.db, of.organizationId, { from, now }));
    if (github === null && !isSameSource(from, now)) continue;
    reported.push({
      ...row,
      github,
      status: buildStatusSchema.parse(row.status),
      diagnosis: readDiagnosis(row.diagnosis),
      isLive: live !== null,
      replay: reportedReplay(ctx.secrets, row.replay, of),
      url: slug === null ? null : mcpUrl(ctx.serverUrlTemplate, slug),
    });
  }
  return reported;
}

async function builtOfOwnBranches(ctx: Context, projectId: string, commits: readonly string[]) {
  if (commits.length === 0) return new Set<string>();
  const rows = await ctx.db
    .select({ commitSha: build.commitSha })
    .from(build)
    .leftJoin(forkPullRequest, eq(forkPullRequest.branchId, build.branchId))
    .where(
      and(eq(build.projectId, projectId), inArray(build.commitSha, [...commits]), isNull(forkPullRequest.branchId)),
    );
  return new Set(rows.map(({ commitSha }) => commitSha));
}
