import { branch, deployment, recordedAnswers, route } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

/** What the build that is live in production has recorded of its server's lists (GW-12). */
export type RecordedListsView =
  /** `none`: nothing, as its server refused to say, or an earlier version of Towpath built it. */
  | { readonly state: "not_live" | "none" | "same" }
  /** `method`: what was answered differently to a second caller. */
  | { readonly state: "varies"; readonly method: string };

/** Whether lists can be answered while the server that is live in production is asleep. */
export async function getRecordedLists(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<RecordedListsView> {
  const { ctx } = call;
  const { project } = await authorizeProject(ctx, "project.read", call.input);
  const [row] = await ctx.db
    .select({ recorded: recordedAnswers.buildId, variesBy: recordedAnswers.variesBy })
    .from(route)
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .leftJoin(recordedAnswers, eq(recordedAnswers.buildId, deployment.buildId))
    .where(and(eq(route.projectId, project.id), eq(branch.isDefault, true)))
    .limit(1);
  if (!row) return { state: "not_live" };
  if (row.recorded === null) return { state: "none" };
  return row.variesBy === null ? { state: "same" } : { state: "varies", method: row.variesBy };
}
