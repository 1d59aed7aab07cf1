import { build } from "@towpath/db/schema";
import { and, eq, inArray, sql } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { expectedBefore } from "./build.state.ts";

/**
 * Gives a build back that a worker cannot finish because it is stopping: it waits again, for the retry of its job or
 * the next sweep. False when the attempt is not the current one.
 */
export async function releaseBuild(call: {
  ctx: Context;
  input: { readonly buildId: string; readonly attempt: number };
}): Promise<boolean> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const released = await ctx.db
    .update(build)
    .set({ status: "queued", updatedAt: sql`now()` })
    .where(
      and(
        eq(build.id, input.buildId),
        inArray(build.status, [...expectedBefore("queued")]),
        eq(build.attempt, input.attempt),
      ),
    )
    .returning({ id: build.id });
  return released.length === 1;
}
