import type { Database } from "@towpath/db";
import { instance, user } from "@towpath/db/schema";
import { and, desc, eq, inArray, isNotNull, isNull, or } from "drizzle-orm";
import { z } from "zod";

/** The instances of a deployment that serve a single caller each (CAP-1). */
export const callerInstancesSchema = z.object({
  running: z.number().int().describe("awake, asleep or starting"),
  /** Of the last day, the newest first, at most 5: of callers who have not started another one since. */
  crashed: z
    .array(z.object({ caller: z.string(), endedAt: z.iso.datetime(), endReason: z.string().nullable() }))
    .readonly(),
});

const shownMs = 24 * 3_600_000;
const maxShown = 5;

/** Null when no caller has had one. `now`: by the application's clock. */
export async function findCallerInstances(
  db: Database,
  { deploymentId, now }: { readonly deploymentId: string; readonly now: Date },
): Promise<z.infer<typeof callerInstancesSchema> | null> {
  const { callerId, state, endedAt, endReason } = instance;
  const newest = await db
    .selectDistinctOn([callerId], { state, endedAt, endReason, caller: user.name })
    .from(instance)
    .leftJoin(user, eq(user.id, callerId))
    .where(and(eq(instance.deploymentId, deploymentId), isNotNull(callerId)))
    .orderBy(callerId, desc(instance.startedAt));
  if (newest.length === 0) return null;
  const since = now.getTime() - shownMs;
  const crashed = newest
    .flatMap((row) => (row.state === "crashed" && row.endedAt ? [{ ...row, endedAt: row.endedAt }] : []))
    .filter((row) => row.endedAt.getTime() > since)
    .sort((a, b) => b.endedAt.getTime() - a.endedAt.getTime());
  return {
    running: newest.filter((row) => running.includes(row.state)).length,
    crashed: crashed.slice(0, maxShown).map((row) => ({
      caller: row.caller ?? "a former member",
      endedAt: row.endedAt.toISOString(),
      endReason: row.endReason,
    })),
  };
}

const running = ["starting", "ready", "frozen"];

/**
 * What counts for a server's own state: instances that all callers share, and those of single callers while they run. How
 * one of these ended concerns its caller only.
 */
export const countsForServer = or(isNull(instance.callerId), inArray(instance.state, running));
