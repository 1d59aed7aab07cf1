import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { deployment } from "./deployment.ts";
import { daysAfter } from "./retention-rule.ts";

/** A server process, as reported by its runner. One row per started instance. */
export const instance = pgTable(
  "instance",
  {
    id: uuid().primaryKey(),
    deploymentId: ownedBy(() => deployment.id),
    /** The person whom alone it serves, with their own values (CAP-1); null: it serves all callers. */
    callerId: uuid(),
    /** The runner that owns the instance and alone changes the row. Null in rows of older versions. */
    runner: uuid(),
    /** Which start of that runner owns it: a replaced runner must not change the row. */
    generation: integer(),
    /** Where it listens once ready: `Endpoint` of packages/runner-api. */
    endpoint: jsonb(),
    /** starting | ready | frozen | stopping | stopped | crashed */
    state: text().notNull(),
    startedAt: instant().notNull().defaultNow(),
    readyAt: instant(),
    endedAt: instant(),
    /** Why it ended, as shown to users; null while it runs. */
    endReason: text(),
    exitCode: integer(),
    restarts: integer().notNull().default(0),
    /** Its last measured memory, for people: approximate, and not every change. Null if the host doesn't count it. */
    memoryBytes: bigint({ mode: "number" }),
  },
  (table) => [
    index().on(table.deploymentId, table.startedAt),
    index("instance_ended_index").on(table.endedAt).where(sql`${table.endedAt} IS NOT NULL`),
  ],
);

/** Ended instances are removed after a week. */
export const instanceRetention = daysAfter(7, instance.endedAt);
