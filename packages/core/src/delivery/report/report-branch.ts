import { createHash } from "node:crypto";
import { branch, branchReport, buildReport, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { surfaceChangesOf } from "../surface/internal.ts";
import { type BranchState, type ReportedBuild, readBranchState } from "./branch-state.ts";
import { buildUrl, checkOfBuild, checkOfHead, type Page } from "./check-text.ts";
import { type Claim, claimBranch } from "./claim.ts";
import { deploymentOfBuild, hasLeft } from "./deployment-text.ts";
import { postStates } from "./post-states.ts";
import type { CheckReport, GitHubReporter, PostState, ReportAddress } from "./report.port.ts";
import { reportPullRequest } from "./report-pull-request.ts";

export type ReportBranchInput = {
  readonly branchId: string;
  readonly reporter: GitHubReporter;
  readonly postState: PostState;
};

/** `busy`: another worker reports just now, so this has to be run again. */
export type ReportOutcome = "reported" | "busy" | "unknown";

/** What one run works with. */
type Report = {
  readonly ctx: Context;
  readonly reporter: GitHubReporter;
  readonly claim: Claim;
  readonly state: BranchState;
  readonly page: Page;
};

/**
 * Reports to GitHub how a branch, its builds and its pull request are now (BLD-8), or to the host of a Git URL that has a
 * status hook how its builds are (SRC-2): reads the state, compares it with what was reported last, and sends only what differs.
 * Idempotent, and never in a transaction. Under a claim, so reports of one branch follow each other and the last one is of
 * the newest state: each change of the state enqueues another.
 *
 * @throws when the host is unavailable; the job is then retried
 */
export async function reportBranch({ ctx, input }: Call<ReportBranchInput, "secrets">): Promise<ReportOutcome> {
  authorizePlatform(ctx);
  if ((await ctx.db.$count(branch, eq(branch.id, input.branchId))) === 0) return "unknown";
  const claim = await claimBranch(ctx.db, input.branchId);
  if (!claim) return "busy";
  let state: BranchState | null;
  try {
    state = await readBranchState(ctx, input.branchId);
    if (!state) return "unknown";
    await reportAll(ctx, input, claim, state);
  } finally {
    await claim.release();
  }
  const { organizationId, repositoryId } = state.project;
  const { address, orgSlug } = state;
  const number = state.branch.pullRequestNumber;
  if (address === null || repositoryId === null || number === null) return "reported";
  const key = { organizationId, repositoryId, number };
  return reportPullRequest({ ctx, at: { key, address, orgSlug }, reporter: input.reporter });
}

async function reportAll(
  ctx: Context<"secrets">,
  input: ReportBranchInput,
  claim: Claim,
  state: BranchState,
): Promise<void> {
  const { reporter } = input;
  const page = { dashboardUrl: ctx.dashboardUrl, orgSlug: state.orgSlug, project: state.project.name };
  const report = { ctx, reporter, claim, state, page };
  // Oldest first: of two checks of one commit the later one counts. Each at the repository that it was built from, which
  // the server may have left.
  for (const build of state.builds.toReversed()) {
    if (build.github === null) continue;
    await reportCheck(report, { ...build, github: build.github });
    await reportDeployment(report, { ...build, github: build.github });
  }
  if (state.address === null) await postStates({ ctx, claim, state, page, post: input.postState });
  else await reportHead(report, state.address);
}

type BuildAtGitHub = ReportedBuild & { readonly github: NonNullable<ReportedBuild["github"]> };

async function deploysSeveral({ ctx, state }: Report, repositoryId: number): Promise<boolean> {
  const same = and(eq(project.organizationId, state.project.organizationId), eq(project.repositoryId, repositoryId));
  return (await ctx.db.$count(project, same)) > 1;
}

const digest = (report: CheckReport): string =>
  `${report.status} ${createHash("sha256").update(JSON.stringify(report)).digest("hex")}`;

async function reportCheck(report: Report, build: BuildAtGitHub): Promise<void> {
  const { ctx, state, reporter, claim, page } = report;
  if (state.ownCommits.has(build.commitSha)) return;
  // What an ended build changed is compared with what was live then.
  const isNewest = build.id === state.builds[0]?.id;
  if (build.reported?.check?.startsWith("completed") && !isNewest) return;
  const against = state.branch.isDefault ? undefined : ("production" as const);
  const surface =
    build.status === "succeeded"
      ? await surfaceChangesOf(ctx, { projectId: state.project.id, buildId: build.id, against })
      : null;
  const check = checkOfBuild(state, build, surface, page);
  if (build.reported?.check === digest(check)) return;
  await claim.renew();
  const checkRunId = await reporter.check(build.github.address, check, build.reported?.checkRunId ?? null);
  await keep(report, build, { checkRunId, check: digest(check) });
}

async function reportDeployment(report: Report, build: BuildAtGitHub): Promise<void> {
  const { state, reporter, claim, page } = report;
  const { address, repositoryId } = build.github;
  const known = build.reported?.deploymentId ?? null;
  if (known !== null && hasLeft(build)) {
    if (build.reported?.deploymentState === "inactive") return;
    await claim.renew();
    const { name } = state.project;
    await reporter.endDeployment(address, known, { description: `Towpath: ${name}`, logUrl: buildUrl(page, build.id) });
    return keep(report, build, { deploymentState: "inactive" });
  }
  const deployment = deploymentOfBuild(state, build, page, await deploysSeveral(report, repositoryId));
  if (deployment === null || build.reported?.deploymentState === deployment.state) return;
  await claim.renew();
  const deploymentId = await reporter.deployment(address, deployment, known);
  await keep(report, build, { deploymentId, deploymentState: deployment.state });
}

/** Keeps what GitHub knows now. The build may have been removed meanwhile. */
async function keep(
  { ctx }: Report,
  { id: buildId }: ReportedBuild,
  reported: Partial<Omit<typeof buildReport.$inferSelect, "buildId">>,
): Promise<void> {
  await ctx.db
    .insert(buildReport)
    .values({ buildId, ...reported })
    .onConflictDoUpdate({ target: buildReport.buildId, set: reported });
}

async function reportHead({ ctx, state, reporter, claim, page }: Report, address: ReportAddress): Promise<void> {
  const { head, reported } = state;
  if (head === null || state.ownCommits.has(head.sha)) return;
  const isSame = reported?.headCommitSha === head.sha;
  // It was never reported as waiting, so it isn't reported as closed.
  if (head.why === "closed" && !isSame) return;
  const check = checkOfHead(state, head, page);
  if (isSame && reported?.headCheck === digest(check)) return;
  await claim.renew();
  const headCheckRunId = await reporter.check(address, check, isSame ? (reported?.headCheckRunId ?? null) : null);
  await ctx.db
    .update(branchReport)
    .set({ headCommitSha: head.sha, headCheckRunId, headCheck: digest(check) })
    .where(eq(branchReport.branchId, state.branch.id));
}
