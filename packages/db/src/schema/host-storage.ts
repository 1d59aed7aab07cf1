import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysAfter } from "./retention-rule.ts";

/** The last disk report of each host's worker, sent every 20 seconds (LOG-6). */
export const hostStorage = pgTable("host_storage", {
  /** Name of the host. */
  host: text().primaryKey(),
  /** `storageReportSchema` of core. */
  report: jsonb().notNull(),
  reportedAt: instant().notNull(),
});

/** Removes hosts that no longer report. */
export const hostStorageRetention = daysAfter(1, hostStorage.reportedAt);
