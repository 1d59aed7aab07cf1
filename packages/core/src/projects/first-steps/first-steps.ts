import type { Context } from "../../context/index.ts";

/** For so long after it was made a server's page lists what to do first. */
const firstStepsDays = 14;
const dayMs = 86_400_000;

/** What to do first with a new server, each true once it was done (SRC-4). */
export type FirstStepsView = {
  /** A tool, resource or prompt was used, by anybody. */
  readonly isCalled: boolean;
  /** A client other than the dashboard's and the terminal's was answered. */
  readonly isConnected: boolean;
  /** A second commit was built; null where there is no repository to change. */
  readonly isChanged: boolean | null;
  /** The organization has a second member, or has invited somebody. */
  readonly hasInvited: boolean;
};

/** Whether a project's page may still have to list them: read from its row, so that nothing is asked once it is over. */
export const mayHaveFirstSteps = (
  ctx: Pick<Context, "clock">,
  project: { readonly createdAt: Date; readonly firstStepsDoneAt: Date | null },
): boolean =>
  project.firstStepsDoneAt === null && ctx.clock.now().getTime() - project.createdAt.getTime() < firstStepsDays * dayMs;
