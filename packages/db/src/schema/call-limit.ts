import { sql } from "drizzle-orm";
import { check, integer, pgTable } from "drizzle-orm/pg-core";
import { instant, keyedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * The limits of calls of a project's server (GW-8), where its organization set lower ones than the instance's. No row,
 * or null: the instance's limit. Gateways read it with the routes, so every change notifies `towpath_route` (a trigger,
 * see migrations).
 */
export const callLimit = pgTable(
  "call_limit",
  {
    projectId: keyedBy(() => project.id),
    /** Calls of one caller in a minute, and at once; both or neither is null. */
    callerPerMinute: integer(),
    callerBurst: integer(),
    /** Calls of all callers together. */
    serverPerMinute: integer(),
    serverBurst: integer(),
    /** Incremented by each change, to detect that two people change it at once. */
    revision: integer().notNull().default(1),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    check("call_limit_caller_check", bothOrNeither(table.callerPerMinute, table.callerBurst)),
    check("call_limit_server_check", bothOrNeither(table.serverPerMinute, table.serverBurst)),
  ],
);

function bothOrNeither(perMinute: unknown, burst: unknown) {
  return sql`num_nulls(${perMinute}, ${burst}) = 2
    OR (num_nulls(${perMinute}, ${burst}) = 0 AND ${perMinute} > 0 AND ${burst} > 0)`;
}

export const callLimitRetention: RetentionRule = { until: "owner" };
