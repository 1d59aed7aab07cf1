import type { Database, Transaction } from "@towpath/db";
import { auditLog } from "@towpath/db/schema";
import { and, count, eq, max, sql } from "drizzle-orm";
import { nextRebuildAt } from "./rebuild.schema.ts";

export const rebuildAction = "build.rebuild";

/** When a deployment whose layers are lost was last built again, and when it is the next time; null before the first try. */
export async function rebuildTries(
  db: Database | Transaction,
  of: { readonly organizationId: string; readonly deploymentId: string },
): Promise<{ readonly last: Date; readonly next: Date } | null> {
  const [tried] = await db
    .select({ tries: count(), last: max(auditLog.createdAt) })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.organizationId, of.organizationId),
        eq(auditLog.action, rebuildAction),
        sql`${auditLog.detail} ->> 'deployment' = ${of.deploymentId}`,
      ),
    );
  return tried?.last ? { last: tried.last, next: nextRebuildAt(tried.tries, tried.last) } : null;
}
