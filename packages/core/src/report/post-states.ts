import { buildReport } from "@towpath/db/schema";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { noteStatus, openedStatusHook } from "../source/internal.ts";
import type { BranchState, ReportedBuild } from "./branch-state.ts";
import { checkOfBuild, type Page } from "./check-text.ts";
import type { Claim } from "./claim.ts";
import type { CommitState, PostState } from "./report.port.ts";

type Posting = {
  readonly ctx: Context;
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

/**
 * Posts the states of a branch's builds to the host of a Git URL (SRC-2), each once. What the host refuses is kept for
 * the server's settings and not posted again: the next state is.
 *
 * @throws when the host is unavailable
 */
export async function postStates({ ctx, claim, state, page, post }: Posting): Promise<void> {
  const { id: projectId, organizationId } = state.project;
  const due = state.builds.filter(({ github, status, told }) => github === null && told?.check !== states[status]);
  const hook = due.length === 0 ? null : await openedStatusHook(ctx, { projectId, organizationId });
  if (hook === null) return;
  // Oldest first: of two builds of one commit the later one counts.
  for (const build of due.toReversed()) {
    const { title, name, detailsUrl } = checkOfBuild(state, build, null, page);
    const is = states[build.status];
    await claim.renew();
    const problem = await refusal(() =>
      post(hook, {
        ...{ sha: build.commitSha, branch: state.branch.name, name, state: is },
        ...{ description: is === "pending" ? "Building" : title, buildUrl: detailsUrl },
      }),
    );
    await ctx.db
      .insert(buildReport)
      .values({ buildId: build.id, check: is })
      .onConflictDoUpdate({ target: buildReport.buildId, set: { check: is } });
    await noteStatus(ctx, projectId, hook, problem);
  }
}

async function refusal(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof TowpathError && error.code === "conflict") return error.message;
    throw error;
  }
}
