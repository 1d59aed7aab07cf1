import { sql } from "drizzle-orm";
import { bigint, boolean, date, doublePrecision, index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/**
 * What callers got of a public server on a day (UTC), for the status page of its organization. Outlives the request log,
 * from which it is counted.
 */
export const serverDay = pgTable(
  "server_day",
  {
    projectId: ownedBy(() => project.id),
    day: date({ mode: "string" }).notNull(),
    /** Without those that were refused before a server was asked. */
    calls: bigint({ mode: "number" }).notNull(),
    /** Those that the server didn't answer, or with an HTTP status of 500 or more. */
    unanswered: bigint({ mode: "number" }).notNull(),
    /** Null without calls. */
    p95Ms: doublePrecision(),
    /** Until when `unanswered` is counted. */
    countedTo: instant().notNull(),
    /** The day has ended, and was counted as a whole. */
    isFinal: boolean().notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.day] }), index().on(table.day)],
);

/** What the page shows, and a day more. */
export const serverDayRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${serverDay.day} < (${daysBefore(moment, 91)} AT TIME ZONE 'UTC')::date`,
};
