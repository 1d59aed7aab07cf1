import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import { daysAfter, daysBefore, type RetentionRule } from "./retention-rule.ts";

/** Tool calls that may be asked for again (CAP-2, decision 087): those with a key, and those that lost their client. */
export const keptCall = pgTable(
  "kept_call",
  {
    /** Of the request, as in `request_log`; its time is in it. */
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** Hash of what identifies the call: a row at most has it, so only its owner runs the call. Null: given up. */
    claim: text(),
    /** Hash of the tool and its arguments, by a key of the instance; empty once the claim has ended. */
    argumentsHash: text().notNull(),
    /** For calls without a key: session and request id, by which gateways know that a call may be a repeat. */
    repeatName: text(),
    /** running | waiting (for whoever asks again) | fetched | unknown | canceled | dropped (the quota was full) | asking (a task that waits for input) */
    state: text().notNull(),
    /** How long the server that ran the call keeps what is known of it, in ms; null: as its project, in earlier versions. */
    keepMs: integer(),
    /** Of a task: hash of whose it is, for lists; null: it is in no list. */
    taskOwner: text(),
    /** Of a task: how long its result is kept, in ms; null: the call is no task. */
    taskKeepMs: integer(),
    /** Of a portal's task: the project of the server that ran the call, and the server's name for the tool. */
    memberId: uuid(),
    memberTool: text(),
    /** Whether it ended with an error. */
    isFailed: boolean().notNull().default(false),
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
    index("kept_call_task_index")
      .on(table.taskOwner, table.startedAt, table.id)
      .where(sql`${table.taskOwner} IS NOT NULL`),
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
    /** Of what a task asks its client: the request that passes it on, and until when no other one does, unless it says so again. */
    takenBy: uuid(),
    takenUntil: instant(),
  },
  (table) => [index().on(table.projectId), index().on(table.expiresAt)],
);

export const keptResultRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${keptResult.expiresAt} < ${moment.now.toISOString()}::timestamptz`,
};

/**
 * Whether servers offer tasks themselves, by protocol era, as gateways saw it in their handshakes: for those that
 * don't, the gateway offers them (CAP-2).
 */
export const taskSupport = pgTable(
  "task_support",
  {
    /** Of the deployment or the external server. */
    serverId: uuid().notNull(),
    /** legacy | modern */
    era: text().notNull(),
    projectId: ownedBy(() => project.id),
    isOwn: boolean().notNull(),
    seenAt: instant().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.serverId, table.era] }),
    index().on(table.projectId),
    index().on(table.seenAt),
  ],
);

/** Gateways say it again with each handshake, at most hourly. */
export const taskSupportRetention: RetentionRule = daysAfter(30, taskSupport.seenAt);
