import { sql } from "drizzle-orm";
import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/** What each host's runner last reported about its isolation, every half minute (RUN-1). */
export const hostIsolation = pgTable("host_isolation", {
  /** Name of the host. */
  host: text().primaryKey(),
  /** `isolationReportSchema` of core. */
  report: jsonb().notNull(),
  reportedAt: instant().notNull(),
});

/** Hosts that no longer report; the newest report is always kept. */
export const hostIsolationRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${hostIsolation.reportedAt} < ${daysBefore(moment, 7)}
    AND ${hostIsolation.reportedAt} < (SELECT max(reported_at) FROM host_isolation)`,
};
