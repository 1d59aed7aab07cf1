import { createHash } from "node:crypto";
import { branch, branchReport, buildReport, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { surfaceChangesOf } from "../surface/internal.ts";
import { type BranchState, type ReportedBuild, readBranchState } from "./branch-state.ts";
import { buildUrl, checkOfBuild, checkOfHead, type Page } from "./check-text.ts";
import { type Claim, claimBranch } from "./claim.ts";
import { deploymentOfBuild, hasLeft } from "./deployment-text.ts";
import { postStates } from "./post-states.ts";
import type { CheckReport, PostState, ReportAddress, TellGitHub } from "./report.port.ts";
import { reportPullRequest } from "./report-pull-request.ts";

export type ReportBranchInput = {
  readonly branchId: string;
  readonly tell: TellGitHub;
  readonly postState: PostState;
  /** Origin of the dashboard, for links. */
  readonly dashboardUrl: string;
};

/** `busy`: another worker reports just now, so this has to be run again. */
export type ReportOutcome = "reported" | "busy" | "unknown";

/** What one run works with. */
type Report = {
  readonly ctx: Context;
  readonly tell: TellGitHub;
  readonly claim: Claim;
  readonly state: BranchState;
  readonly page: Page;
};

/**
 * Tells GitHub how a branch, its builds and its pull request are now (BLD-8), or the host of a Git URL that has a status
 * hook how its builds are (SRC-2): reads the state, compares it with what was told last, and sends only what differs.
 * Idempotent, and never in a transaction. Under a claim, so reports of one branch follow each other and the last one is of
 * the newest state: whatever changes the state enqueues another.
 *
 * @throws when the host is unavailable; the job is then retried
 */
export async function reportBranch(call: { ctx: Context; input: ReportBranchInput }): Promise<ReportOutcome> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  if ((await ctx.db.$count(branch, eq(branch.id, input.branchId))) === 0) return "unknown";
  const claim = await claimBranch(ctx.db, input.branchId);
  if (!claim) return "busy";
  let state: BranchState | null;
  try {
    state = await readBranchState(ctx, input.branchId);
    if (!state) return "unknown";
    await tellAll(ctx, input, claim, state);
  } finally {
    await claim.release();
  }
  const { tell, dashboardUrl } = input;
  const { organizationId, repositoryId } = state.project;
  const { address, orgSlug } = state;
  const number = state.branch.pullRequestNumber;
  if (address === null || repositoryId === null || number === null) return "reported";
  const key = { organizationId, repositoryId, number };
  return reportPullRequest({ ctx, at: { key, address, orgSlug }, tell, dashboardUrl });
}

async function tellAll(ctx: Context, input: ReportBranchInput, claim: Claim, state: BranchState): Promise<void> {
  const { tell } = input;
  const page = { dashboardUrl: input.dashboardUrl, orgSlug: state.orgSlug, project: state.project.name };
  const report = { ctx, tell, claim, state, page };
  // Oldest first: of two checks of one commit the later one counts. Each at the repository that it was built from, which
  // the server may have left.
  for (const build of state.builds.toReversed()) {
    if (build.github === null) continue;
    await tellCheck(report, { ...build, github: build.github });
    await tellDeployment(report, { ...build, github: build.github });
  }
  if (state.address === null) await postStates({ ctx, claim, state, page, post: input.postState });
  else await tellHead(report, state.address);
}

type BuildAtGitHub = ReportedBuild & { readonly github: NonNullable<ReportedBuild["github"]> };

async function deploysSeveral({ ctx, state }: Report, repositoryId: number): Promise<boolean> {
  const same = and(eq(project.organizationId, state.project.organizationId), eq(project.repositoryId, repositoryId));
  return (await ctx.db.$count(project, same)) > 1;
}

const digest = (report: CheckReport): string =>
  `${report.status} ${createHash("sha256").update(JSON.stringify(report)).digest("hex")}`;

async function tellCheck(report: Report, build: BuildAtGitHub): Promise<void> {
  const { ctx, state, tell, claim, page } = report;
  if (state.ownCommits.has(build.commitSha)) return;
  // What an ended build changed is compared with what was live then.
  const isNewest = build.id === state.builds[0]?.id;
  if (build.told?.check?.startsWith("completed") && !isNewest) return;
  const against = state.branch.isDefault ? undefined : ("production" as const);
  const surface =
    build.status === "succeeded"
      ? await surfaceChangesOf(ctx, { projectId: state.project.id, buildId: build.id, against })
      : null;
  const check = checkOfBuild(state, build, surface, page);
  if (build.told?.check === digest(check)) return;
  await claim.renew();
  const checkRunId = await tell.check(build.github.address, check, build.told?.checkRunId ?? null);
  await note(report, build, { checkRunId, check: digest(check) });
}

async function tellDeployment(report: Report, build: BuildAtGitHub): Promise<void> {
  const { state, tell, claim, page } = report;
  const { address, repositoryId } = build.github;
  const known = build.told?.deploymentId ?? null;
  if (known !== null && hasLeft(build)) {
    if (build.told?.deploymentState === "inactive") return;
    await claim.renew();
    const { name } = state.project;
    await tell.endDeployment(address, known, { description: `Towpath: ${name}`, logUrl: buildUrl(page, build.id) });
    return note(report, build, { deploymentState: "inactive" });
  }
  const deployment = deploymentOfBuild(state, build, page, await deploysSeveral(report, repositoryId));
  if (deployment === null || build.told?.deploymentState === deployment.state) return;
  await claim.renew();
  const deploymentId = await tell.deployment(address, deployment, known);
  await note(report, build, { deploymentId, deploymentState: deployment.state });
}

/** Keeps what GitHub knows now. The build may have been removed meanwhile. */
async function note(
  { ctx }: Report,
  { id: buildId }: ReportedBuild,
  told: Partial<Omit<typeof buildReport.$inferSelect, "buildId">>,
): Promise<void> {
  await ctx.db
    .insert(buildReport)
    .values({ buildId, ...told })
    .onConflictDoUpdate({ target: buildReport.buildId, set: told });
}

async function tellHead({ ctx, state, tell, claim, page }: Report, address: ReportAddress): Promise<void> {
  const { head, told } = state;
  if (head === null || state.ownCommits.has(head.sha)) return;
  const isSame = told?.headCommitSha === head.sha;
  // Nobody was told that it waits, so nobody is told that it was closed.
  if (head.why === "closed" && !isSame) return;
  const check = checkOfHead(state, head, page);
  if (isSame && told?.headCheck === digest(check)) return;
  await claim.renew();
  const headCheckRunId = await tell.check(address, check, isSame ? (told?.headCheckRunId ?? null) : null);
  await ctx.db
    .update(branchReport)
    .set({ headCommitSha: head.sha, headCheckRunId, headCheck: digest(check) })
    .where(eq(branchReport.branchId, state.branch.id));
}
