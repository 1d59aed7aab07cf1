import { build, project } from "@towpath/db/schema";
import { and, eq, gte, lt, min, sql } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import type { Diagnosis } from "./build-contract.schema.ts";
import { enqueueTurn } from "./queue-build.ts";

/** A build that took this many workers with it is not tried again. */
const maxAttempts = 3;
const maxAtOnce = 200;

const workersLost: Diagnosis = {
  code: "internal_error",
  phase: "fetch",
  title: "The build was interrupted several times",
  detail: `The worker that ran this build ended before it was done, ${maxAttempts} times in a row.`,
  remedy: "Redeploy the build. If it happens again, the operator finds the cause in the worker's log.",
  file: null,
  line: null,
  excerpt: null,
};

/**
 * Repairs what lost workers and lost jobs leave behind: a build that shows no sign of life for `staleMs` is queued
 * again, and every organization with queued builds gets its turn. Safe to run anywhere at any time; returns what it
 * did.
 */
export async function requeueLostBuilds(call: {
  ctx: Context;
  input: { readonly staleMs: number };
}): Promise<{ readonly requeued: readonly string[]; readonly failed: readonly string[] }> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  // The database's clock on both sides: workers on other machines need not agree with this one.
  const stale = and(
    eq(build.status, "building"),
    lt(build.updatedAt, sql`now() - ${input.staleMs} * interval '1 millisecond'`),
  );
  const failed = await ctx.db
    .update(build)
    .set({ status: "failed", diagnosis: workersLost, endedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(stale, gte(build.attempt, maxAttempts)))
    .returning({ id: build.id });
  const requeued = await ctx.db
    .update(build)
    .set({ status: "queued", updatedAt: sql`now()` })
    .where(and(stale, lt(build.attempt, maxAttempts)))
    .returning({ id: build.id });
  await enqueueWaiting(ctx);
  return { requeued: requeued.map((row) => row.id), failed: failed.map((row) => row.id) };
}

/** A turn is unique while it waits, so this changes nothing for organizations that have one. */
async function enqueueWaiting(ctx: Context): Promise<void> {
  const waiting = await ctx.db
    .select({ organizationId: project.organizationId, since: min(build.createdAt) })
    .from(build)
    .innerJoin(project, eq(project.id, build.projectId))
    .where(eq(build.status, "queued"))
    .groupBy(project.organizationId)
    // At random, so that when there are more, none is left out again and again.
    .orderBy(sql`random()`)
    .limit(maxAtOnce);
  if (waiting.length === 0) return;
  waiting.sort((one, two) => Number(one.since) - Number(two.since));
  await ctx.db.transaction(async (tx) => {
    for (const { organizationId } of waiting) await enqueueTurn(tx, ctx, organizationId);
  });
}
