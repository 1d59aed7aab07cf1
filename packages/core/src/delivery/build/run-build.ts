import { build } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { enqueueReport } from "../branch/index.ts";
import { isCurrentAttempt, ofAttempt } from "./build.store.ts";
import type { BuildTimings, Diagnosis } from "./build-contract.schema.ts";
import { raiseFailedBuild } from "./raise-failed-build.ts";
import { storableDiagnosis } from "./stored-build.ts";

/**
 * A worker's heartbeat for its build, due every few seconds: without it the sweep gives the build to another worker.
 * False when that has happened, or the build was canceled or deleted: the worker must stop.
 */
export async function keepBuild(call: Call<{ readonly buildId: string; readonly attempt: number }>): Promise<boolean> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const kept = await ctx.db
    .update(build)
    .set({ updatedAt: sql`now()` })
    .where(isCurrentAttempt(input))
    .returning({ id: build.id });
  return kept.length === 1;
}

/**
 * Queues a build again that a worker can't finish because it is stopping; the retry of its job or the next sweep runs
 * it. False when the attempt isn't the current one.
 */
export async function releaseBuild({
  ctx,
  input,
}: Call<{ readonly buildId: string; readonly attempt: number }>): Promise<boolean> {
  authorizePlatform(ctx);
  const released = await ctx.db
    .update(build)
    .set({ status: "queued", updatedAt: sql`now()` })
    .where(ofAttempt(input, "queued"))
    .returning({ id: build.id });
  return released.length === 1;
}

/**
 * Ends a build as failed, with its cause. Doesn't affect what is live (BLD-2). False, and nothing written, when the
 * attempt isn't the current one.
 */
export async function failBuild(call: {
  ctx: Context;
  input: {
    readonly buildId: string;
    readonly attempt: number;
    readonly diagnosis: Diagnosis;
    readonly timings?: BuildTimings;
  };
}): Promise<boolean> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const [failed] = await tx
      .update(build)
      .set({
        status: "failed",
        diagnosis: storableDiagnosis(input.diagnosis),
        endedAt: now,
        updatedAt: now,
        ...(input.timings && { timings: input.timings }),
      })
      .where(ofAttempt(input, "failed"))
      .returning({ branchId: build.branchId });
    if (!failed) return false;
    await enqueueReport(tx, ctx, failed.branchId);
    await raiseFailedBuild(tx, ctx, input);
    return true;
  });
}
