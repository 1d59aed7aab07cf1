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
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";

const instant = () => timestamp({ withTimezone: true, precision: 3 });

// request_log and server_log are partitioned by day in SQL (see migrations): Drizzle has no syntax for that, and
// so they carry no foreign keys either. Rows leave by dropping a day.

/** One row for every JSON-RPC message that passed the gateway (GW-7). */
export const requestLog = pgTable(
  "request_log",
  {
    id: uuid().notNull(),
    time: instant().notNull(),
    organizationId: uuid().notNull(),
    projectId: uuid().notNull(),
    deploymentId: uuid().notNull(),
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
  },
  (table) => [
    primaryKey({ columns: [table.time, table.id] }),
    index().on(table.projectId, table.time.desc(), table.id.desc()),
    // The errors page of a project that hardly ever fails.
    index("request_log_errors_index")
      .on(table.projectId, table.time.desc(), table.id.desc())
      .where(sql`${table.isError}`),
  ],
);

/** A line that a server wrote to stdout or stderr, or that the platform says about it. */
export const serverLog = pgTable(
  "server_log",
  {
    id: bigint({ mode: "number" }).generatedAlwaysAsIdentity(),
    time: instant().notNull(),
    projectId: uuid().notNull(),
    deploymentId: uuid().notNull(),
    instanceId: uuid(),
    /** stdout | stderr | platform */
    stream: text().notNull(),
    /** debug | info | warning | error */
    level: text().notNull(),
    line: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.time, table.id] }), index().on(table.deploymentId, table.id.desc())],
);

/** A line of a build's log, in order of `line`. */
export const buildLog = pgTable(
  "build_log",
  {
    buildId: uuid().notNull(),
    /** 1, 2, 3, … within the build. */
    line: integer().notNull(),
    time: instant().notNull(),
    /** fetch | plan | install | inspect | rollout */
    phase: text().notNull(),
    /** step (what Towpath does and why) | output (what a tool printed) | warning | error */
    kind: text().notNull(),
    text: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.buildId, table.line] })],
);
