import { z } from "zod";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { type OwnLimits, readLimits } from "./call-limit.store.ts";

export const rateSchema = z.object({ perMinute: z.number().int(), burst: z.number().int() });
/** Of one caller, and of all callers together; null: as many as the instance allows. */
const ownRates = { caller: rateSchema.nullable(), server: rateSchema.nullable() };

/** How many calls a server takes (GW-8). Nobody can raise the instance's limits here; null: none. */
export const callLimitViewSchema = z.object({
  ...ownRates,
  instance: z.object({ ...ownRates, organization: rateSchema.nullable() }).describe("the instance's own limits"),
  revision: z.number().int().describe("for the next change; 0: the defaults apply"),
});
export type CallLimitView = z.infer<typeof callLimitViewSchema>;

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
