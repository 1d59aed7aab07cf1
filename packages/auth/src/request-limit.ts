import { randomUUID } from "node:crypto";
import { sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { rateLimit } from "@towpath/db/schema";
import { sql } from "drizzle-orm";

/**
 * Counts a request of `key`, for all processes together, in windows of a minute that start with the first request.
 * Returns 0 when it may proceed, else the seconds until the window ends.
 */
export async function limitRequests(
  db: Database,
  call: { readonly key: string; readonly max: number },
): Promise<number> {
  const now = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
  const isOver = sql`${rateLimit.lastRequest} < ${now} - 60000`;
  const [row] = await db
    .insert(rateLimit)
    .values({ id: randomUUID(), key: `towpath ${sha256(call.key)}`, count: 1, lastRequest: now })
    .onConflictDoUpdate({
      target: rateLimit.key,
      set: {
        count: sql`CASE WHEN ${isOver} THEN 1 ELSE ${rateLimit.count} + 1 END`,
        lastRequest: sql`CASE WHEN ${isOver} THEN ${now} ELSE ${rateLimit.lastRequest} END`,
      },
    })
    .returning({
      count: rateLimit.count,
      seconds: sql<string>`greatest(1, ceil((${rateLimit.lastRequest} + 60000 - ${now}) / 1000.0))`,
    });
  return row && row.count > call.max ? Number(row.seconds) : 0;
}
