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

// Aggregates of the request log, from which all statistics are read (docs/decisions/013-request-log-roll-ups.md).
// A trigger aggregates each INSERT into `request_log` to one row of `request_log_delta` per project, in the same
// transaction. The worker folds deltas into the other tables. Readers add the deltas that are not folded yet.

/** Sums of the rows that one statement inserted for one project; deleted when they are folded. */
export const requestLogDelta = pgTable(
  "request_log_delta",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    projectId: uuid().notNull(),
    firstMinute: instant().notNull(),
    lastMinute: instant().notNull(),
    /**
     * An array [minute (epoch seconds), deployment, HTTP method, method, target, class, calls, sum of ms, latency] per
     * series.
     */
    series: jsonb().notNull(),
    // Callers per ten minutes, as parallel arrays.
    callerDeployments: uuid().array().notNull(),
    callerSessions: text().array().notNull(),
    callerPrincipals: text().array().notNull(),
    callerClientNames: text().array().notNull(),
    callerClientVersions: text().array().notNull(),
    /** Null: written by a version before 0015. */
    callerProtocolVersions: text().array(),
    callerFirstSeen: instant().array().notNull(),
    callerLastSeen: instant().array().notNull(),
    callerCalls: integer().array().notNull(),
    callerErrors: integer().array().notNull(),
    callerRefused: integer().array().notNull(),
    /** The latest call that used a tool, a resource or a prompt, or failed; null for callers without one. */
    callerLastUsed: instant().array(),
    /** Distinct error messages; null: none. */
    messages: text().array(),
  },
  (table) => [index().on(table.projectId)],
);

/** The dimensions by which calls are counted. The id is a hash of the columns, so that counting needs no lookup. */
export const requestLogSeries = pgTable(
  "request_log_series",
  {
    projectId: uuid().notNull(),
    id: bigint({ mode: "bigint" }).notNull(),
    deploymentId: uuid(),
    httpMethod: text().notNull(),
    method: text(),
    target: text(),
    /** 0: succeeded; 1: error; refused by the gateway before any server was asked, 3: by a limit (429), 2: else (4xx). */
    class: smallint().notNull(),
    /** Counts the calls beyond the number of new names that a project may have in a day, without method and target. */
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

/** Calls of a series in the period from `time`. Partitioned by day. */
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

/** One row per session; calls without a session count as one caller per principal and client. */
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
    /** Session, principal and client name in lower case, one per line, for the search. */
    searchText: text().notNull(),
    /** Counts the callers beyond the number of new ones that a project may have in a day. */
    isOverflow: boolean().notNull().default(false),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
    /**
     * The ten minutes in which it was last seen. Indexed in place of `lastSeen`, which changes with every fold: while no
     * indexed column changes, an update touches no index.
     */
    lastSlot: instant().generatedAlwaysAs(sql`date_bin('10 minutes', last_seen, 'epoch')`),
    calls: bigint({ mode: "number" }).notNull(),
    errors: bigint({ mode: "number" }).notNull(),
    refused: bigint({ mode: "number" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    index().on(table.projectId, table.firstSeen),
    index().on(table.projectId, table.principal),
    index().on(table.lastSlot),
    // Trigrams: finds part of a text. Under the collation of the search's condition, else PostgreSQL can't use it.
    index("request_log_caller_search_index").using("gin", table.projectId, sql`search_text COLLATE "C" gin_trgm_ops`),
  ],
);

/** Calls of a caller in the ten minutes from `time`. Partitioned by day. */
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

/** Distinct error messages, for the search. */
export const requestLogMessage = pgTable(
  "request_log_message",
  {
    projectId: uuid().notNull(),
    /** hashtextextended(message, 0). 0 with an empty text: all messages beyond the number of new ones per day. */
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
  request_log_caller: unseen(requestLogCaller.lastSlot),
  request_log_caller_slot: withItsRows,
  request_log_message: unseen(requestLogMessage.lastSeen),
} as const satisfies Record<string, RetentionRule>;
