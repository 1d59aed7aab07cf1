import { build } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { ofAttempt } from "./build.store.ts";

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
    .where(ofAttempt(input, "queued"))
    .returning({ id: build.id });
  return released.length === 1;
}
