import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { deployment } from "./deployment.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/** What the runner knows of a server process. One row an instance that was ever started. */
export const instance = pgTable(
  "instance",
  {
    id: uuid().primaryKey(),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: "cascade" }),
    /** starting | ready | frozen | stopping | stopped | crashed */
    state: text().notNull(),
    startedAt: instant().notNull().defaultNow(),
    readyAt: instant(),
    endedAt: instant(),
    /** Why it ended, for people; null while it runs. */
    endReason: text(),
    exitCode: integer(),
    restarts: integer().notNull().default(0),
  },
  (table) => [
    index().on(table.deploymentId, table.startedAt),
    index("instance_ended_index").on(table.endedAt).where(sql`${table.endedAt} IS NOT NULL`),
  ],
);

/** Ended instances of the last week; the others with their deployment. */
export const instanceRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${instance.endedAt} < ${daysBefore(moment, 7)}`,
};
