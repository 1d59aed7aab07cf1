import { build, project } from "@towpath/db/schema";
import { and, asc, eq } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { enqueueTurn } from "./queue-build.ts";
import { type TakenBuild, takeBuild } from "./take-build.ts";

/**
 * Takes the organization's oldest queued build for one worker; null when none waits. When another one waits, the
 * organization gets its next turn, behind all organizations that are waiting already.
 */
export async function takeNextBuild(call: {
  ctx: Context;
  input: { readonly organizationId: string };
}): Promise<TakenBuild | null> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  for (;;) {
    const [next, another] = await ctx.db
      .select({ id: build.id })
      .from(build)
      .innerJoin(project, eq(project.id, build.projectId))
      .where(and(eq(project.organizationId, input.organizationId), eq(build.status, "queued")))
      .orderBy(asc(build.createdAt), asc(build.id))
      .limit(2);
    if (next === undefined) return null;
    // Before this one is taken, so that a worker that dies in between leaves one turn too many, not one too few.
    if (another !== undefined) await ctx.db.transaction((tx) => enqueueTurn(tx, ctx, input.organizationId));
    const taken = await takeBuild({ ctx, input: { buildId: next.id } });
    // Null when another worker was faster, or it was canceled.
    if (taken !== null) return taken;
  }
}
