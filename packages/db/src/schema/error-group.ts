import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

// Failed calls, grouped (docs/decisions/078-errors-are-grouped-by-cause.md).

/**
 * A row of `request_log` that failed and isn't grouped yet. A trigger writes it with the row (see migrations), the worker
 * deletes it in the transaction that counts it.
 */
export const requestLogFailure = pgTable("request_log_failure", {
  id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  projectId: uuid().notNull(),
  /** With the project, the key of the row. */
  time: instant().notNull(),
  rowId: uuid().notNull(),
  queuedAt: instant().notNull().defaultNow(),
});

/** A failed call that a group keeps as an example: a row of the request log, which has the arguments. */
export type ErrorSample = { readonly id: string; readonly time: string };
/** Calls of a caller or client, the most frequent first. */
export type ErrorShare = { readonly name: string; readonly count: number };

/** Failures with one cause. Ids of deployments may be of removed ones. */
export const errorGroup = pgTable(
  "error_group",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** Hash of what distinguishes it: tool, exception and own frame, or a message without its values. */
    fingerprint: text().notNull(),
    /** Counts the failures beyond the number of groups that a project may have. */
    isOverflow: boolean().notNull().default(false),
    /** The newest failure's exception or message. */
    title: text().notNull(),
    method: text(),
    /** Tool name, prompt name or resource URI. */
    target: text(),
    /** Its type, such as `ValueError`; null without a traceback. */
    exception: text(),
    /** The innermost frame of the server's own code: a file relative to its root directory, the newest line. */
    file: text(),
    line: integer(),
    functionName: text(),
    /** open | resolved | ignored */
    state: text().notNull().default("open"),
    count: bigint({ mode: "number" }).notNull(),
    firstSeen: instant().notNull(),
    lastSeen: instant().notNull(),
    /** The day (UTC) of `lastSeen`, indexed in its place: while no indexed column changes, an update touches no index. */
    lastDay: instant().generatedAlwaysAs(sql`date_bin('1 day', last_seen, 'epoch')`),
    firstDeploymentId: uuid(),
    lastDeploymentId: uuid(),
    /** When it became new or came back. */
    openedAt: instant().notNull(),
    /** It was resolved before, and came back. */
    isBack: boolean().notNull().default(false),
    resolvedAt: instant(),
    /** The deployment that it was last seen in when it was resolved. */
    resolvedDeploymentId: uuid(),
    /** The newest few. */
    samples: jsonb().$type<readonly ErrorSample[]>().notNull(),
    callers: jsonb().$type<readonly ErrorShare[]>().notNull(),
    clients: jsonb().$type<readonly ErrorShare[]>().notNull(),
    /** Whether there were more callers, or clients, than the list holds. */
    hasMoreCallers: boolean().notNull().default(false),
    hasMoreClients: boolean().notNull().default(false),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.fingerprint),
    index("error_group_open_index").on(table.projectId, table.openedAt).where(sql`${table.state} = 'open'`),
    index().on(table.lastDay),
  ],
);

/** Failures of a group in the hour from `time`. */
export const errorGroupHour = pgTable(
  "error_group_hour",
  {
    groupId: ownedBy(() => errorGroup.id),
    time: instant().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.groupId, table.time] }), index().on(table.time)],
);

export const errorGroupRetention = {
  // Without its calls a group has no example and no figures.
  error_group: {
    until: "expired",
    condition: (moment) => sql`${errorGroup.lastDay} < ${daysBefore(moment, moment.policy.requestLogDays)}`,
  },
  error_group_hour: {
    until: "expired",
    condition: (moment) => sql`${errorGroupHour.time} < ${daysBefore(moment, moment.policy.requestLogDays)}`,
  },
  request_log_failure: { until: "verb", verb: "groupFailures" },
} as const satisfies Record<string, RetentionRule>;
