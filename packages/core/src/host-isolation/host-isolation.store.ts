import type { Database } from "@towpath/db";
import { hostIsolation } from "@towpath/db/schema";
import { desc } from "drizzle-orm";
import { type IsolationReport, isolationReportSchema } from "./host-isolation.schema.ts";

export type StoredIsolation = { readonly report: IsolationReport; readonly reportedAt: Date };

/** The most recent report; null when no runner has written one that can be read. */
export async function newestHostIsolation(db: Database): Promise<StoredIsolation | null> {
  const [row] = await db.select().from(hostIsolation).orderBy(desc(hostIsolation.reportedAt)).limit(1);
  const report = isolationReportSchema.safeParse(row?.report);
  return row && report.success ? { report: report.data, reportedAt: row.reportedAt } : null;
}

/**
 * Stores a runner's report about its host's isolation. Called by the runner itself, so there is no principal to authorize.
 */
export async function recordHostIsolation(
  db: Database,
  input: { readonly host: string; readonly report: IsolationReport; readonly at: Date },
): Promise<void> {
  const values = { host: input.host, report: isolationReportSchema.parse(input.report), reportedAt: input.at };
  await db
    .insert(hostIsolation)
    .values(values)
    .onConflictDoUpdate({ target: hostIsolation.host, set: { report: values.report, reportedAt: values.reportedAt } });
}
