import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/** Tool calls that may be asked for again (CAP-2, decision 087): those with a key, and those that lost their client. */
export const keptCall = pgTable(
  "kept_call",
  {
    /** Of the request, as in `request_log`; its time is in it. */
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** Hash of what identifies the call: a row at most has it, so only its owner runs the call. Null: given up. */
    claim: text(),
    /** Hash of the tool and its arguments. */
    argumentsHash: text().notNull(),
    /** For calls without a key: session and request id, by which gateways know that a call may be a repeat. */
    repeatName: text(),
    /** running | waiting (for whoever asks again) | fetched | unknown | canceled | dropped (the quota was full) */
    state: text().notNull(),
    /** Whether somebody waits for it other than its client. */
    isAwaited: boolean().notNull().default(false),
    /** What is known of an end that nobody saw. */
    known: text(),
    startedAt: instant().notNull(),
    /** Of a running call: its gateway is alive until then, unless it says so again. */
    aliveUntil: instant(),
    endedAt: instant(),
    fetchedAt: instant(),
    /** When the result is removed and the claim ends; null while it runs. */
    expiresAt: instant(),
  },
  (table) => [
    uniqueIndex().on(table.claim),
    index().on(table.projectId, table.state, table.startedAt),
    index("kept_call_running_index").on(table.aliveUntil).where(sql`${table.state} = 'running'`),
    index("kept_call_claimed_index").on(table.expiresAt).where(sql`${table.claim} IS NOT NULL`),
    index().on(table.expiresAt),
  ],
);

/** As long as the request log, which shows their states. */
export const keptCallRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${keptCall.expiresAt} < ${daysBefore(moment, moment.policy.requestLogDays)}`,
};

/** The result of a call, sealed with a key of the instance. */
export const keptResult = pgTable(
  "kept_result",
  {
    callId: keyedBy(() => keptCall.id),
    projectId: ownedBy(() => project.id),
    sealed: text().notNull(),
    /** What counts for the quota of the project. */
    bytes: integer().notNull(),
    expiresAt: instant().notNull(),
  },
  (table) => [index().on(table.projectId), index().on(table.expiresAt)],
);

export const keptResultRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${keptResult.expiresAt} < ${moment.now.toISOString()}::timestamptz`,
};
