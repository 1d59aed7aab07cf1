import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

// Partitioned by day in SQL (see migrations): Drizzle has no syntax for that, and so it carries no foreign keys either.
// Rows leave by dropping a day.

/** One row for every JSON-RPC message that passed the gateway (GW-7). */
export const requestLog = pgTable(
  "request_log",
  {
    id: uuid().notNull(),
    time: instant().notNull(),
    organizationId: uuid().notNull(),
    projectId: uuid().notNull(),
    /** Null for a request to a target that is no deployment. */
    deploymentId: uuid(),
    /** request | notification | response | batch | other */
    kind: text().notNull(),
    httpMethod: text().notNull(),
    /** JSON-RPC method; null for GET streams, DELETE and bodies that are no JSON-RPC. */
    method: text(),
    /** Tool name, prompt name or resource URI. */
    target: text(),
    httpStatus: smallint().notNull(),
    isError: boolean().notNull(),
    /** JSON-RPC error code, when the answer was an error. */
    errorCode: integer(),
    errorMessage: text(),
    /** ok | rpc_error | tool_error | http_error | input_required | closed_by_client | closed_by_server | gateway_error */
    outcome: text().notNull(),
    durationMs: doublePrecision().notNull(),
    /** Milliseconds that the request was held for a starting or waking server. */
    heldMs: doublePrecision().notNull().default(0),
    requestBytes: integer().notNull(),
    responseBytes: bigint({ mode: "number" }).notNull(),
    protocolVersion: text(),
    clientName: text(),
    clientVersion: text(),
    /** Legacy session id, hashed; null in the modern era. */
    session: text(),
    /** user:<id>, key:<id>, admin, or anonymous */
    principal: text().notNull(),
    traceId: text(),
    requestPayload: jsonb(),
    responsePayload: jsonb(),
    /** True for a row older than the roll-ups that is not counted in them yet; else null (`backfillRollups`). */
    needsRollup: boolean(),
  },
  (table) => [
    // One index for all reading, writing once and paging: each further one makes every write slower.
    primaryKey({ columns: [table.projectId, table.time, table.id] }),
    // The errors page of a project that hardly ever fails.
    index("request_log_error_index").on(table.projectId, table.time.asc(), table.id.asc()).where(sql`${table.isError}`),
    // Finds the rows of an error message that a search has found in `request_log_message`.
    index("request_log_message_index")
      .on(table.projectId, sql`hashtextextended(error_message, 0)`, table.time.asc())
      .where(sql`${table.errorMessage} IS NOT NULL`),
    // Empty once the rows of an upgraded instance are counted.
    index("request_log_rollup_index").on(table.time.asc()).where(sql`${table.needsRollup}`),
  ],
);

export const requestLogRetention: RetentionRule = { until: "days", days: (policy) => policy.requestLogDays };
