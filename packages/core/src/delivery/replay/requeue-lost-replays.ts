import { callReplay } from "@towpath/db/schema";
import { and, eq, lt, or, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { enqueueReplay } from "./request-replay.ts";

/** Enqueues the replays again whose jobs were lost. Idempotent: of each, one job waits. Resolves to their ids. */
export async function requeueLostReplays({
  ctx,
  input,
}: Call<{ readonly olderThanMs: number }>): Promise<{ readonly requeued: readonly string[] }> {
  authorizePlatform(ctx);
  const before = new Date(ctx.clock.now().getTime() - input.olderThanMs);
  const rows = await ctx.db
    .select()
    .from(callReplay)
    .where(
      and(
        lt(callReplay.requestedAt, before),
        or(
          eq(callReplay.state, "waiting"),
          and(eq(callReplay.state, "running"), lt(callReplay.claimedUntil, sql`clock_timestamp()`)),
        ),
      ),
    );
  for (const row of rows) await ctx.db.transaction((tx) => enqueueReplay(tx, ctx, row));
  return { requeued: rows.map(({ id }) => id) };
}
