import { sql } from "drizzle-orm";
import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/** The last isolation report of each host's runner, sent every 30 seconds (RUN-1). */
export const hostIsolation = pgTable("host_isolation", {
  /** Name of the host. */
  host: text().primaryKey(),
  /** `isolationReportSchema` of core. */
  report: jsonb().notNull(),
  reportedAt: instant().notNull(),
});

/** Removes hosts that no longer report, but keeps the newest report. */
export const hostIsolationRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${hostIsolation.reportedAt} < ${daysBefore(moment, 7)}
    AND ${hostIsolation.reportedAt} < (SELECT max(reported_at) FROM host_isolation)`,
};
