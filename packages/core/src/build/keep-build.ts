import { build } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";

/**
 * A worker's sign of life for the build that it runs, due every few seconds: without it the sweep gives the build to
 * another one. False when that has happened, or the build was canceled or deleted: the worker must stop.
 */
export async function keepBuild(call: {
  ctx: Context;
  input: { readonly buildId: string; readonly attempt: number };
}): Promise<boolean> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const kept = await ctx.db
    .update(build)
    .set({ updatedAt: sql`now()` })
    .where(and(eq(build.id, input.buildId), eq(build.status, "building"), eq(build.attempt, input.attempt)))
    .returning({ id: build.id });
  return kept.length === 1;
}
