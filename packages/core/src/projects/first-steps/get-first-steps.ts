import { build, invitation, member, project } from "@towpath/db/schema";
import { and, eq, isNull, ne, sql } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import type { FirstStepsView } from "./first-steps.ts";

/**
 * Which of a server's first steps are done (SRC-4). `isCalled` and `isConnected` are in the request log, which the caller
 * has read. Once all are done the project's row says so, and nobody asks again.
 *
 * @throws TowpathError `not_found` for a project of others
 */
export async function getFirstSteps(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string } & Pick<FirstStepsView, "isCalled" | "isConnected">;
}): Promise<FirstStepsView> {
  const { ctx, input } = call;
  const { project: row, organization } = await authorizeProject(ctx, "project.read", input);
  const { isCalled, isConnected } = input;
  const [found] = await ctx.db
    .select({
      isChanged: sql<boolean>`(SELECT count(DISTINCT ${build.commitSha}) > 1 FROM ${build}
        WHERE ${build.projectId} = ${row.id} AND ${build.status} = 'succeeded')`,
      hasInvited: sql<boolean>`(SELECT count(*) > 1 FROM ${member} WHERE ${member.organizationId} = ${organization.id})
        OR EXISTS (SELECT FROM ${invitation}
          WHERE ${and(eq(invitation.organizationId, organization.id), ne(invitation.status, "revoked"))})`,
    })
    .from(project)
    .where(eq(project.id, row.id));
  const hasRepository = row.kind === "hosted" && row.packageName === null;
  const steps = {
    isCalled,
    isConnected,
    isChanged: hasRepository ? (found?.isChanged ?? false) : null,
    hasInvited: found?.hasInvited ?? false,
  };
  if (Object.values(steps).every((done) => done !== false)) {
    // A memo of what was read, not a change that somebody made.
    await ctx.db
      .update(project)
      .set({ firstStepsDoneAt: ctx.clock.now() })
      .where(and(eq(project.id, row.id), isNull(project.firstStepsDoneAt)));
  }
  return steps;
}
