import type { CallLimits, Rate } from "@towpath/limits";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { type OwnLimits, readLimits } from "./call-limit.store.ts";

/** How many calls a server takes (GW-8). */
export type CallLimitView = {
  /** Of one caller; null: as many as the instance allows. */
  readonly caller: Rate | null;
  /** Of all callers together; null: as many as the instance allows. */
  readonly server: Rate | null;
  /** The instance's own limits, which nobody can raise here; null: none. */
  readonly instance: CallLimits;
  /** For the next change: see `CallLimitInput`. 0: nothing was ever set. */
  readonly revision: number;
};

/**
 * The limits of calls to a server, and those of the instance.
 *
 * @throws TowpathError `not_found` for a project of others
 */
export async function getCallLimits({ ctx, input }: Call<ProjectScope, "callLimits">): Promise<CallLimitView> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  return limitsView(ctx, await readLimits(ctx.db, project.id));
}

export const limitsView = ({ callLimits }: Context<"callLimits">, own: OwnLimits): CallLimitView => ({
  ...own,
  instance: callLimits,
});
