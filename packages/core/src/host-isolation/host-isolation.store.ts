import type { Database } from "@towpath/db";
import { hostIsolation } from "@towpath/db/schema";
import { desc } from "drizzle-orm";
import { type IsolationReport, isolationReportSchema } from "./host-isolation.schema.ts";

export type StoredIsolation = { readonly report: IsolationReport; readonly reportedAt: Date };

export async function writeHostIsolation(
  db: Database,
  host: string,
  report: IsolationReport,
  reportedAt: Date,
): Promise<void> {
  await db
    .insert(hostIsolation)
    .values({ host, report, reportedAt })
    .onConflictDoUpdate({ target: hostIsolation.host, set: { report, reportedAt } });
}

/** The most recent report; null when no runner has written one that can be read. */
export async function newestHostIsolation(db: Database): Promise<StoredIsolation | null> {
  const [row] = await db.select().from(hostIsolation).orderBy(desc(hostIsolation.reportedAt)).limit(1);
  const report = isolationReportSchema.safeParse(row?.report);
  return row && report.success ? { report: report.data, reportedAt: row.reportedAt } : null;
}
