import { buildReport } from "@towpath/db/schema";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { openedStatusHook, recordStatus } from "../../sources/source/internal.ts";
import type { BranchState, ReportedBuild } from "./branch-state.ts";
import { checkOfBuild, type Page } from "./check-text.ts";
import type { Claim } from "./claim.ts";
import { conclusionOf, isReplaying } from "./replay-text.ts";
import type { CommitState, PostState } from "./report.port.ts";

type Posting = {
  readonly ctx: Context<"secrets">;
  readonly claim: Claim;
  readonly state: BranchState;
  readonly page: Page;
  readonly post: PostState;
};

const states = {
  queued: "pending",
  building: "pending",
  succeeded: "success",
  failed: "failure",
  canceled: "canceled",
} as const satisfies Readonly<Record<ReportedBuild["status"], CommitState["state"]>>;

/** A build whose calls are still replayed, or that has to answer them like production and doesn't, is no success (CAP-4). */
function stateOf({ status, replay }: ReportedBuild): CommitState["state"] {
  if (status !== "succeeded" || replay === null) return states[status];
  if (isReplaying(replay)) return "pending";
  return conclusionOf(replay) === "failure" ? "failure" : "success";
}

/**
 * Posts the states of a branch's commits to the host of a Git URL (SRC-2), each once: a commit has the
 * state of its newest build. A state that the host refuses is shown in the server's settings and not posted again. One
 * that it can't take now doesn't delay the others: hosts also answer so for a commit that they no longer have.
 *
 * @throws when the host could not take one of them; the job is then retried
 */
export async function postStates({ ctx, claim, state, page, post }: Posting): Promise<void> {
  const { id: projectId, organizationId } = state.project;
  const own = state.builds.filter(({ github }) => github === null);
  const newest = own.filter(({ commitSha }, at) => own.findIndex((build) => build.commitSha === commitSha) === at);
  const due = newest.filter((build) => build.reported?.check !== stateOf(build));
  const hook = due.length === 0 ? null : await openedStatusHook(ctx, { projectId, organizationId });
  if (hook === null) return;
  const later: TowpathError[] = [];
  // Oldest first, so that the result of the newest is stored last.
  for (const build of due.toReversed()) {
    const { title, name, detailsUrl } = checkOfBuild(state, build, null, page);
    const is = stateOf(build);
    await claim.renew();
    const problem = await problemOf(() =>
      post(hook, {
        sha: build.commitSha,
        branch: state.branch.name,
        name,
        state: is,
        description: is === "pending" && build.status !== "succeeded" ? "Building" : title,
        buildUrl: detailsUrl,
      }),
    );
    if (problem !== null && problem.code !== "conflict") later.push(problem);
    else await recordReported(ctx, build.id, is);
    // An older commit's problem is not that of the host.
    if (problem === null || build === newest[0]) await recordStatus(ctx, projectId, hook, problem?.message ?? null);
  }
  if (later[0] !== undefined) throw later[0];
}

async function recordReported(ctx: Context, buildId: string, check: CommitState["state"]): Promise<void> {
  await ctx.db
    .insert(buildReport)
    .values({ buildId, check })
    .onConflictDoUpdate({ target: buildReport.buildId, set: { check } });
}

async function problemOf(work: () => Promise<void>): Promise<TowpathError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof TowpathError) return error;
    throw error;
  }
}
