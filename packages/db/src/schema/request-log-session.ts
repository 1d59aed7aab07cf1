import { type AnyColumn, sql } from "drizzle-orm";
import { bigint, doublePrecision, index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

// Callers of a project's servers, and their sessions (docs/decisions/021-sessions-of-both-eras.md). Written by
// `foldRequestLogs` only, from the callers of `request_log_delta`. Calls that the gateway refused never count here.

/** One row per session: a legacy session by its id, else calls of one principal and client without a long pause. */
export const requestLogSession = pgTable(
  "request_log_session",
  {
    projectId: uuid().notNull(),
    /** Hash of the session id; without one, of principal and client. */
    key: bigint({ mode: "bigint" }).notNull(),
    /** A late row may move it to before, or join two sessions of one key. */
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
    /** The ten minutes in which it was last seen; indexed in place of `lastSeen`, as in `request_log_caller`. */
    lastSlot: instant().generatedAlwaysAs(sql`date_bin('10 minutes', last_seen, 'epoch')`),
    /** The session id as logged; null when the session was formed. */
    session: text(),
    /** hashtextextended(principal, 0), the id in `request_log_user`. */
    userId: bigint({ mode: "bigint" }).notNull(),
    principal: text().notNull(),
    clientName: text(),
    clientVersion: text(),
    protocolVersion: text(),
    /** That of the latest call. */
    deploymentId: uuid(),
    /** Not read or written; a worker of an earlier release, which may still run, fills it. */
    callerIds: bigint({ mode: "bigint" }).array().notNull().default(sql`'{}'`),
    calls: bigint({ mode: "number" }).notNull(),
    errors: bigint({ mode: "number" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.key, table.firstSeen] }),
    index().on(table.projectId, table.lastSlot),
    index().on(table.projectId, table.userId, table.lastSlot),
    index().on(table.lastSlot),
  ],
);

/** One row per principal that called a project. */
export const requestLogUser = pgTable(
  "request_log_user",
  {
    projectId: uuid().notNull(),
    /** hashtextextended(principal, 0) */
    id: bigint({ mode: "bigint" }).notNull(),
    principal: text().notNull(),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
    lastSlot: instant().generatedAlwaysAs(sql`date_bin('10 minutes', last_seen, 'epoch')`),
    /** The client of the latest call. */
    clientName: text(),
    clientVersion: text(),
    calls: bigint({ mode: "number" }).notNull(),
    errors: bigint({ mode: "number" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    index().on(table.projectId, table.lastSlot),
    index().on(table.lastSlot),
  ],
);

/** Calls of a principal in the hour from `time`. */
export const requestLogUserHour = pgTable(
  "request_log_user_hour",
  {
    projectId: uuid().notNull(),
    userId: bigint({ mode: "bigint" }).notNull(),
    time: instant().notNull(),
    calls: bigint({ mode: "number" }).notNull(),
    errors: bigint({ mode: "number" }).notNull(),
    /** The hour's latest call that used a tool, a resource or a prompt, or failed. Null: none did. */
    lastUsed: instant(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.userId, table.time] }), index().on(table.time)],
);

/** Sessions and users of a project in the period of `seconds` from `time`. */
export const requestLogActivity = pgTable(
  "request_log_activity",
  {
    projectId: uuid().notNull(),
    /** 600, 3600, 21600 or 86400 */
    seconds: integer().notNull(),
    time: instant().notNull(),
    /** Sessions whose first call was in the period. */
    begun: integer().notNull(),
    /** Sessions whose last call so far was in the period, with their calls and milliseconds from first to last call. */
    ended: integer().notNull(),
    endedCalls: bigint({ mode: "number" }).notNull(),
    endedMs: doublePrecision().notNull(),
    /** Principals that called in the period; from 3600 seconds on. */
    users: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.seconds, table.time] }), index().on(table.time)],
);

const before = (column: AnyColumn): RetentionRule => ({
  until: "expired",
  condition: (moment) => sql`${column} < ${daysBefore(moment, moment.policy.requestLogDays)}`,
});

export const requestLogSessionRetention = {
  request_log_session: before(requestLogSession.lastSlot),
  request_log_user: before(requestLogUser.lastSlot),
  request_log_user_hour: before(requestLogUserHour.time),
  request_log_activity: before(requestLogActivity.time),
} as const satisfies Record<string, RetentionRule>;
