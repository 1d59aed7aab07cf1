import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
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
    /** The runner that it belongs to; only that one changes the row. Null in rows of older versions. */
    runner: uuid(),
    /** Which start of that runner has it: a runner that has been replaced changes nothing any more. */
    generation: integer(),
    /** Where it listens, once it is ready: `Endpoint` of packages/runner-api. */
    endpoint: jsonb(),
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
