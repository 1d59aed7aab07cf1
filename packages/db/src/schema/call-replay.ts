import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { build } from "./build.ts";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** Tool calls of production that are replayed on previews (CAP-4), where the project's setting asks for it. */
export const sampledCall = pgTable(
  "sampled_call",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    tool: text().notNull(),
    /** Keyed hash of the tool and of the names and types of its arguments: the sample is spread over these. */
    shape: text().notNull(),
    /** Keyed hash of the tool and its arguments: each call is sampled once. */
    fingerprint: text().notNull(),
    /** The arguments, sealed with a key of the instance. */
    sealed: text().notNull(),
    sampledAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (table) => [uniqueIndex().on(table.projectId, table.fingerprint), index().on(table.expiresAt)],
);

export const sampledCallRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${sampledCall.expiresAt} < ${moment.now.toISOString()}::timestamptz`,
};

/** The replay of sampled calls on one commit of a preview beside production: the newest one, and its report. */
export const callReplay = pgTable(
  "call_replay",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    branchId: ownedBy(() => branch.id),
    commitSha: text().notNull(),
    /** The preview's latest build of the commit. */
    buildId: ownedBy(() => build.id),
    /** waiting | running | done | replaced (by a newer commit's) */
    state: text().notNull(),
    /** Incremented when a worker takes it; a worker with an older attempt stores nothing. */
    attempt: integer().notNull().default(0),
    /** Of a running one: another worker may take it from then on. */
    claimedUntil: instant(),
    requestedAt: instant().notNull(),
    startedAt: instant(),
    endedAt: instant(),
    /** same | different | inconclusive; null before the first one has ended. */
    verdict: text(),
    /** Of the latest report: calls that were compared, those that became different, and the tools they called. */
    calls: integer().notNull().default(0),
    different: integer().notNull().default(0),
    tools: integer().notNull().default(0),
    /** `ReplayDocument` of core, sealed with a key of the instance; null before the first one has ended. */
    sealed: text(),
  },
  (table) => [
    uniqueIndex().on(table.branchId, table.commitSha),
    index().on(table.projectId),
    index().on(table.buildId),
    index("call_replay_unfinished_index").on(table.requestedAt).where(sql`${table.state} IN ('waiting', 'running')`),
  ],
);

export const callReplayRetention: RetentionRule = { until: "owner" };
