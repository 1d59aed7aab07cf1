import { build, project } from "@towpath/db/schema";
import { and, eq, gte, inArray, isNotNull, lt, min, or, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { enqueueReport } from "../branch/index.ts";
import type { Diagnosis } from "./build-contract.schema.ts";
import { enqueueTurn } from "./queue-build.ts";
import { raiseFailedBuild } from "./raise-failed-build.ts";

/** A build that was lost with this many workers fails. */
const maxAttempts = 3;
const maxAtOnce = 200;

const workersLost: Diagnosis = {
  code: "internal_error",
  phase: "fetch",
  title: "The build was interrupted several times",
  detail: `The worker ended before the build was done, ${maxAttempts} times in a row.`,
  remedy: "Rebuild. If it happens again, ask the operator to check the worker's log.",
  file: null,
  line: null,
  excerpt: null,
  action: { kind: "rebuild" },
};

/**
 * Recovers from lost workers and jobs: queues builds again that have had no heartbeat for `staleMs`, or whose worker has
 * ended, and enqueues a turn for every organization with queued builds. Any worker may run it at any time.
 *
 * `hasEnded`: whether the process of a name is known to have ended; left out, none is.
 *
 * @returns ids of the builds that were queued again, and of those that failed
 */
export async function requeueLostBuilds(call: {
  ctx: Context;
  input: { readonly staleMs: number; readonly hasEnded?: (worker: string) => Promise<boolean> };
}): Promise<{ readonly requeued: readonly string[]; readonly failed: readonly string[] }> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  // Compares times of the database's clock only, as the clocks of workers may differ.
  const ended = await endedWorkers(ctx, input.hasEnded);
  const stale = and(
    eq(build.status, "building"),
    or(
      lt(build.updatedAt, sql`now() - ${input.staleMs} * interval '1 millisecond'`),
      ended.length > 0 ? inArray(build.worker, ended) : undefined,
    ),
  );
  const failed = await ctx.db.transaction(async (tx) => {
    const rows = await tx
      .update(build)
      .set({ status: "failed", diagnosis: workersLost, endedAt: sql`now()`, updatedAt: sql`now()` })
      .where(and(stale, gte(build.attempt, maxAttempts)))
      .returning({ id: build.id, branchId: build.branchId });
    for (const { id, branchId } of rows) {
      await enqueueReport(tx, ctx, branchId);
      await raiseFailedBuild(tx, ctx, { buildId: id, diagnosis: workersLost });
    }
    return rows;
  });
  const requeued = await ctx.db
    .update(build)
    .set({ status: "queued", updatedAt: sql`now()` })
    .where(and(stale, lt(build.attempt, maxAttempts)))
    .returning({ id: build.id });
  await enqueueWaiting(ctx);
  return { requeued: requeued.map((row) => row.id), failed: failed.map((row) => row.id) };
}

/** Names of processes that have ended without ending their builds. */
async function endedWorkers(
  ctx: Context,
  hasEnded: (worker: string) => Promise<boolean> = async () => false,
): Promise<string[]> {
  const rows = await ctx.db
    .selectDistinct({ worker: build.worker })
    .from(build)
    .where(and(eq(build.status, "building"), isNotNull(build.worker)));
  const found = await Promise.all(
    rows.map(async ({ worker }) => (worker !== null && (await hasEnded(worker)) ? [worker] : [])),
  );
  return found.flat();
}

/** Adds nothing for organizations that already have a turn in the queue. */
async function enqueueWaiting(ctx: Context): Promise<void> {
  const waiting = await ctx.db
    .select({ organizationId: project.organizationId, since: min(build.createdAt) })
    .from(build)
    .innerJoin(project, eq(project.id, build.projectId))
    .where(eq(build.status, "queued"))
    .groupBy(project.organizationId)
    // In random order, so that beyond the limit none is skipped every time.
    .orderBy(sql`random()`)
    .limit(maxAtOnce);
  if (waiting.length === 0) return;
  waiting.sort((one, two) => Number(one.since) - Number(two.since));
  await ctx.db.transaction(async (tx) => {
    for (const { organizationId } of waiting) await enqueueTurn(tx, ctx, organizationId);
  });
}
