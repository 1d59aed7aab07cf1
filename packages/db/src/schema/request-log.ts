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

// Partitioned by day in SQL (see migrations), because Drizzle can't express that. No foreign keys: rows are removed by
// dropping a day.

/** One row per JSON-RPC message that passed the gateway (GW-7). */
export const requestLog = pgTable(
  "request_log",
  {
    id: uuid().notNull(),
    /**
     * The HTTP request, as its client (`towpath-request-id`) and the server log know it; null: the same as `id`. Only
     * the further messages of a batch have an id of their own.
     */
    requestId: uuid(),
    time: instant().notNull(),
    organizationId: uuid().notNull(),
    projectId: uuid().notNull(),
    /** Null when the target isn't a deployment. */
    deploymentId: uuid(),
    /** The server process that got the request; null when none did. */
    instanceId: text(),
    /** request | notification | response | batch | other */
    kind: text().notNull(),
    httpMethod: text().notNull(),
    /** JSON-RPC method; null for GET streams, DELETE and bodies that aren't JSON-RPC. */
    method: text(),
    /** Tool name, prompt name or resource URI. */
    target: text(),
    httpStatus: smallint().notNull(),
    isError: boolean().notNull(),
    /** JSON-RPC error code, when the response was an error. */
    errorCode: integer(),
    errorMessage: text(),
    /** Why the gateway itself refused the request, such as `unauthorized`; null when it didn't. */
    refusal: text(),
    /**
     * ok | rpc_error | tool_error | http_error | input_required | closed_by_client | closed_by_server | gateway_error
     */
    outcome: text().notNull(),
    durationMs: doublePrecision().notNull(),
    /** Milliseconds for which the request waited for its server to start or wake. */
    heldMs: doublePrecision().notNull().default(0),
    /** Milliseconds from when the request was sent to the server until the end of its answer; null when it wasn't. */
    serverMs: doublePrecision(),
    /** `StartAttempt` of packages/logs: what the request waited for; null when its server was ready. */
    startAttempt: jsonb(),
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
    /** True when only the beginning of the payload was kept, else null. */
    requestTruncated: boolean(),
    responseTruncated: boolean(),
    /** True for a row that is older than the roll-ups and not counted in them yet, else null (`backfillRollups`). */
    needsRollup: boolean(),
  },
  (table) => [
    // One index for reading, idempotent writing and paging: each additional one slows down every write.
    primaryKey({ columns: [table.projectId, table.time, table.id] }),
    // For a search: the rows of the messages found in `request_log_message`.
    index("request_log_message_index")
      .on(table.projectId, sql`hashtextextended(error_message, 0)`, table.time.asc())
      .where(sql`${table.errorMessage} IS NOT NULL`),
    // For `backfillRollups`; empty once all rows are counted.
    index("request_log_rollup_index").on(table.time.asc()).where(sql`${table.needsRollup}`),
  ],
);

export const requestLogRetention: RetentionRule = { until: "days", days: (policy) => policy.requestLogDays };
