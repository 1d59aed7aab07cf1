import { type AnyColumn, sql } from "drizzle-orm";
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
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

// What every statistic of the request log reads instead of its rows (docs/decisions/013-request-log-roll-ups.md).
// A trigger sums up each INSERT into `request_log` as one row per project of `request_log_delta`, in the same
// transaction; the worker folds deltas into the tables below. Readers add the deltas that are not folded yet.

/** Sums of the rows that one statement inserted for one project; deleted when they are folded. */
export const requestLogDelta = pgTable(
  "request_log_delta",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    projectId: uuid().notNull(),
    firstMinute: instant().notNull(),
    lastMinute: instant().notNull(),
    /** An array [minute (epoch seconds), deployment, HTTP method, method, target, class, calls, sum of ms, latency] per series. */
    series: jsonb().notNull(),
    // Columns of the callers within ten minutes: elements of one position belong together.
    callerDeployments: uuid().array().notNull(),
    callerSessions: text().array().notNull(),
    callerPrincipals: text().array().notNull(),
    callerClientNames: text().array().notNull(),
    callerClientVersions: text().array().notNull(),
    callerFirstSeen: instant().array().notNull(),
    callerLastSeen: instant().array().notNull(),
    callerCalls: integer().array().notNull(),
    callerErrors: integer().array().notNull(),
    callerRefused: integer().array().notNull(),
    /** Distinct error messages; null: none. */
    messages: text().array(),
  },
  (table) => [index().on(table.projectId)],
);

/** What calls are counted by. The id is a hash of the columns, so nobody needs to look it up to count. */
export const requestLogSeries = pgTable(
  "request_log_series",
  {
    projectId: uuid().notNull(),
    id: bigint({ mode: "bigint" }).notNull(),
    deploymentId: uuid(),
    httpMethod: text().notNull(),
    method: text(),
    target: text(),
    /** 0: succeeded; 1: error; 2: refused by the gateway (4xx) before any server was asked. */
    class: smallint().notNull(),
    /** Stands for calls of a project that made up too many names in a day: method and target are unknown. */
    isOverflow: boolean().notNull().default(false),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    index().on(table.projectId, table.firstSeen),
    index().on(table.lastSeen),
  ],
);

/** Calls of a series in a period that begins at `time`. Partitioned by day. */
const rollup = (name: string) =>
  pgTable(
    name,
    {
      projectId: uuid().notNull(),
      time: instant().notNull(),
      seriesId: bigint({ mode: "bigint" }).notNull(),
      calls: bigint({ mode: "number" }).notNull(),
      /** Sum of the durations, milliseconds. */
      durationMs: doublePrecision().notNull(),
      /** Histogram: bucket * 2^40 + calls, for each bucket that has any. Buckets: packages/logs `latency.ts`. */
      latency: bigint({ mode: "bigint" }).array().notNull(),
    },
    (table) => [primaryKey({ columns: [table.projectId, table.time, table.seriesId] })],
  );
export const requestLogMinute = rollup("request_log_minute");
export const requestLogTenMinutes = rollup("request_log_ten_minutes");
export const requestLogHour = rollup("request_log_hour");
export const requestLogHalfDay = rollup("request_log_half_day");

/** Who called: one row per session; calls without a session are one caller per principal and client. */
export const requestLogCaller = pgTable(
  "request_log_caller",
  {
    projectId: uuid().notNull(),
    /** Hash of deployment, session, principal and client. */
    id: bigint({ mode: "bigint" }).notNull(),
    deploymentId: uuid(),
    session: text(),
    principal: text().notNull(),
    clientName: text(),
    clientVersion: text(),
    /** Session, principal and client name in lower case, one a line: what a search looks through. */
    searchText: text().notNull(),
    /** Stands for callers beyond the number that a project may have new in a day. */
    isOverflow: boolean().notNull().default(false),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
    calls: bigint({ mode: "number" }).notNull(),
    errors: bigint({ mode: "number" }).notNull(),
    refused: bigint({ mode: "number" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    index().on(table.projectId, table.lastSeen),
    index().on(table.projectId, table.firstSeen),
    index().on(table.lastSeen),
  ],
);

/** What a caller did within ten minutes that begin at `time`. Partitioned by day. */
export const requestLogCallerSlot = pgTable(
  "request_log_caller_slot",
  {
    projectId: uuid().notNull(),
    time: instant().notNull(),
    callerId: bigint({ mode: "bigint" }).notNull(),
    calls: integer().notNull(),
    errors: integer().notNull(),
    refused: integer().notNull(),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.time, table.callerId] }),
    index().on(table.projectId, table.callerId, table.time),
  ],
);

/** Error messages that occurred, for the search. */
export const requestLogMessage = pgTable(
  "request_log_message",
  {
    projectId: uuid().notNull(),
    /** hashtextextended(message, 0); 0 with an empty text stands for messages beyond what a project may have new in a day. */
    id: bigint({ mode: "bigint" }).notNull(),
    /** In lower case. */
    searchText: text().notNull(),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    index().on(table.projectId, table.firstSeen),
    index().on(table.lastSeen),
  ],
);

const withItsRows: RetentionRule = { until: "days", days: (policy) => policy.requestLogDays };
const unseen = (lastSeen: AnyColumn): RetentionRule => ({
  until: "expired",
  condition: (moment) => sql`${lastSeen} < ${daysBefore(moment, moment.policy.requestLogDays)}`,
});

export const requestLogRollupRetention = {
  request_log_delta: { until: "verb", verb: "foldRequestLogs" },
  request_log_series: unseen(requestLogSeries.lastSeen),
  request_log_minute: withItsRows,
  request_log_ten_minutes: withItsRows,
  request_log_hour: withItsRows,
  request_log_half_day: withItsRows,
  request_log_caller: unseen(requestLogCaller.lastSeen),
  request_log_caller_slot: withItsRows,
  request_log_message: unseen(requestLogMessage.lastSeen),
} as const satisfies Record<string, RetentionRule>;
