import { sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { eraseLogs } from "./erase-logs.ts";
import { dropLogDays, removeExpired } from "./remove-expired.ts";
import { removeSecretVersions } from "./remove-secret-versions.ts";
import { removeBuildLogs, removeSuperseded } from "./remove-superseded.ts";
import { mergeRemovals, type Removal, type SweepInput } from "./sweep-parts.ts";

/** In this order: what a step removes may be what another one's rows refer to. */
const steps = [eraseLogs, removeExpired, dropLogDays, removeSuperseded, removeSecretVersions, removeBuildLogs];

/**
 * Removes rows according to `retentionRules` (LOG-3, LOG-6). Null when another worker is sweeping. Each step is a
 * transaction of its own with at most some thousand rows, so that a worker can be killed at any time and the next sweep
 * continues.
 */
export async function sweepRows(call: Call<SweepInput>): Promise<Removal | null> {
  const { ctx } = call;
  authorizePlatform(ctx);
  return aloneAmongWorkers(ctx, "towpath_retention", async () => {
    const removals: Removal[] = [];
    for (const step of steps) {
      removals.push(await step(call));
    }
    return mergeRemovals(removals);
  });
}

/**
 * Runs `work` unless another process runs work of the same name; then null. The lock is held by a transaction of its
 * own that writes nothing: it ends with the process, and works behind a pooler.
 */
export function aloneAmongWorkers<T>(ctx: Context, name: string, work: () => Promise<T>): Promise<T | null> {
  return ctx.db.transaction(async (lock) => {
    const { rows } = await lock.execute<{ mine: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(hashtext(${name})) AS mine`,
    );
    return rows[0]?.mine ? work() : null;
  });
}
