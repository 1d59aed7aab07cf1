import {
  branch,
  branchReport,
  build,
  buildReport,
  deployment,
  forkPullRequest,
  organization,
  project,
  route,
} from "@towpath/db/schema";
import { and, desc, eq, gte, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { BuildStatus, Diagnosis } from "../build/build-contract.schema.ts";
import { buildStatusSchema } from "../build/build-contract.schema.ts";
import { readDiagnosis } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { mcpUrl } from "../server-url/index.ts";
import { sourceOf } from "../source/internal.ts";
import type { ReportAddress } from "./report.port.ts";

export type ReportedBuild = {
  readonly id: string;
  readonly commitSha: string;
  readonly status: BuildStatus;
  readonly trigger: string;
  readonly diagnosis: Diagnosis | null;
  readonly isLive: boolean;
  readonly url: string | null;
  /** What GitHub was last told of it; null: nothing. */
  readonly told: typeof buildReport.$inferSelect | null;
};

/** A head that has no build, and why. */
export type Head = { readonly sha: string; readonly why: "waiting" | "declined" | "closed" | "skipped" };

/** A branch as GitHub is to be told about it. */
export type BranchState = {
  readonly branch: typeof branch.$inferSelect;
  readonly project: typeof project.$inferSelect;
  readonly orgSlug: string;
  readonly fork: typeof forkPullRequest.$inferSelect | null;
  readonly told: typeof branchReport.$inferSelect | null;
  /** null: no installation reads the repository. */
  readonly address: ReportAddress | null;
  /** Newest first: those that run or ended lately, and those whose deployment GitHub takes for live. */
  readonly builds: readonly ReportedBuild[];
  readonly head: Head | null;
  /** Commits of a fork's builds that the repository's own branches have as well: their checks are not the fork's. */
  readonly ownCommits: ReadonlySet<string>;
};

const maxBuilds = 20;

/** Null for a branch that doesn't exist (any more). */
export async function readBranchState(ctx: Context, branchId: string): Promise<BranchState | null> {
  const [of] = await ctx.db
    .select({ branch, project, orgSlug: organization.slug, fork: forkPullRequest, told: branchReport })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoin(forkPullRequest, eq(forkPullRequest.branchId, branch.id))
    .leftJoin(branchReport, eq(branchReport.branchId, branch.id))
    .where(eq(branch.id, branchId));
  if (!of) return null;
  const address = addressAtGitHub(of.project);
  const builds = await readBuilds(ctx, branchId, of.project.sourceChangedAt);
  const head = headOf(of.branch, of.fork);
  const commits = [...new Set([...builds.map(({ commitSha }) => commitSha), ...(head ? [head.sha] : [])])];
  const ownCommits = of.fork ? await builtOfOwnBranches(ctx, of.project.id, commits) : new Set<string>();
  return { ...of, address, builds, head, ownCommits };
}

/** Other sources have no API to report to. */
function addressAtGitHub(of: BranchState["project"]): ReportAddress | null {
  const source = sourceOf(of);
  if (source?.kind !== "github" || source.installationId === null) return null;
  const [owner, name] = source.fullName.split("/");
  return owner && name ? { installationId: source.installationId, owner, name } : null;
}

function headOf(of: BranchState["branch"], fork: BranchState["fork"]): Head | null {
  const unbuilt = ["waiting", "declined", "closed"] as const;
  const why = unbuilt.find((each) => each === fork?.state);
  if (fork && why) return { sha: fork.commitSha, why };
  return of.skippedCommitSha === null ? null : { sha: of.skippedCommitSha, why: "skipped" };
}

/**
 * Ended ones count for an hour, so that an earlier version's builds aren't all reported at once. `since`: builds from before
 * are of commits that this host doesn't have.
 */
async function readBuilds(ctx: Context, branchId: string, since: Date | null): Promise<readonly ReportedBuild[]> {
  const lately = or(isNull(build.endedAt), sql`${build.endedAt} > now() - interval '1 hour'`);
  const servedAtGitHub = and(
    isNotNull(buildReport.deploymentId),
    or(eq(buildReport.deploymentState, "success"), isNotNull(route.deploymentId)),
  );
  const rows = await ctx.db
    .select({
      id: build.id,
      commitSha: build.commitSha,
      status: build.status,
      trigger: build.trigger,
      diagnosis: build.diagnosis,
      slug: deployment.slug,
      live: route.deploymentId,
      told: buildReport,
    })
    .from(build)
    .leftJoin(buildReport, eq(buildReport.buildId, build.id))
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .where(
      and(
        eq(build.branchId, branchId),
        or(lately, servedAtGitHub),
        since === null ? undefined : gte(build.createdAt, since),
      ),
    )
    .orderBy(desc(build.sequence))
    .limit(maxBuilds);
  return rows.map(({ slug, live, ...row }) => ({
    ...row,
    status: buildStatusSchema.parse(row.status),
    diagnosis: readDiagnosis(row.diagnosis),
    isLive: live !== null,
    url: slug === null ? null : mcpUrl(ctx.serverUrlTemplate, slug),
  }));
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
