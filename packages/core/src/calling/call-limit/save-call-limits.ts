import { project as projectTable } from "@towpath/db/schema";
import type { Rate } from "@towpath/limits";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { type CallLimitInput, callLimitSchema } from "./call-limit.schema.ts";
import { type OwnLimits, readLimits, storeLimits } from "./call-limit.store.ts";
import { type CallLimitView, limitsView } from "./call-limit.view.ts";

/**
 * Sets how many calls a server takes (GW-8). Gateways are notified, and keep to it within a second.
 *
 * @throws TowpathError `conflict` when somebody else has changed it since `revision`, `invalid_input` for more than the
 * instance allows
 */
export async function saveCallLimits(call: Call<ProjectScope & CallLimitInput, "callLimits">): Promise<CallLimitView> {
  const { ctx } = call;
  const { project, organization } = await authorizeProject(ctx, "limit.manage", call.input);
  const { revision, ...chosen } = parseInput(callLimitSchema, call.input);
  requireWithin("caller", chosen.caller, ctx.callLimits.caller);
  requireWithin("server", chosen.server, ctx.callLimits.server);
  const saved = await ctx.db.transaction(async (tx) => {
    // Limits that aren't stored have no row to lock.
    await tx.select({ id: projectTable.id }).from(projectTable).where(eq(projectTable.id, project.id)).for("update");
    const before = await readLimits(tx, project.id);
    if (revision !== undefined && revision !== before.revision) throw changedMeanwhile();
    const after: OwnLimits = { ...chosen, revision: before.revision + 1 };
    await storeLimits(tx, { projectId: project.id, limits: after, now: ctx.clock.now() });
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "limit.update",
      subject: project.name,
      detail: { before: { caller: before.caller, server: before.server }, after: chosen },
    });
    return after;
  });
  return limitsView(ctx, saved);
}

function requireWithin(of: "caller" | "server", chosen: Rate | null, allowed: Rate | null): void {
  if (chosen === null || allowed === null) return;
  const problems: Record<string, string> = {};
  for (const key of ["perMinute", "burst"] as const) {
    const most = allowed[key];
    if (chosen[key] > most) problems[`${of}.${key}`] = `This instance allows ${most.toLocaleString("en")} at most.`;
  }
  const [first] = Object.values(problems);
  if (first !== undefined) throw new TowpathError("invalid_input", first, { fields: problems });
}

const changedMeanwhile = () =>
  new TowpathError("conflict", "Someone else just changed these limits. Reload the page to see the change.");
