import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/** What each host's runner last reported about its isolation, every half minute (RUN-1). */
export const hostIsolation = pgTable("host_isolation", {
  /** Name of the host. */
  host: text().primaryKey(),
  /** `isolationReportSchema` of core. */
  report: jsonb().notNull(),
  reportedAt: instant().notNull(),
});
