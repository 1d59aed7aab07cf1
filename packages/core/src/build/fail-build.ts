import { build } from "@towpath/db/schema";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { ofAttempt } from "./build.store.ts";
import type { BuildTimings, Diagnosis } from "./build-contract.schema.ts";
import { storableDiagnosis } from "./stored-build.ts";

/**
 * Ends a build as failed with its cause. What is live stays as it is (BLD-2). False when the attempt is not the
 * current one: nothing was written.
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
  const failed = await ctx.db
    .update(build)
    .set({
      status: "failed",
      diagnosis: storableDiagnosis(input.diagnosis),
      endedAt: now,
      updatedAt: now,
      ...(input.timings && { timings: input.timings }),
    })
    .where(ofAttempt(input, "failed"))
    .returning({ id: build.id });
  return failed.length === 1;
}
