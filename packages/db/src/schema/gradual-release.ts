import { sql } from "drizzle-orm";
import { boolean, check, doublePrecision, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { deployment } from "./deployment.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** How deployments of a project get into production (decision 080). No row: at once, without an approval. */
export const releasePolicy = pgTable("release_policy", {
  projectId: keyedBy(() => project.id),
  /** Whether pushes are released gradually. */
  isGradual: boolean().notNull().default(false),
  minutesPerStep: integer().notNull().default(15),
  /** Percentage points by which the new version's share of errors may exceed the live one's. */
  maxErrorPoints: doublePrecision().notNull().default(2),
  /** How many times the live version's p95 latency the new one's may be. */
  maxLatencyFactor: doublePrecision().notNull().default(1.5),
  /** Calls of the new version in a step before it is judged. */
  minCalls: integer().notNull().default(20),
  /** nobody | admin | owner: the lowest role that approves a deployment to production. */
  approval: text().notNull().default("nobody"),
  updatedAt: instant().notNull().defaultNow(),
});

export const releasePolicyRetention: RetentionRule = { until: "owner" };

/**
 * A release in steps: the candidate gets a share of the new sessions of a branch's route, which still points to the
 * stable deployment. Gateways read it with the routes, so every change notifies `towpath_route` (a trigger, see
 * migrations).
 */
export const gradualRelease = pgTable(
  "gradual_release",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    branchId: ownedBy(() => branch.id),
    stableDeploymentId: ownedBy(() => deployment.id),
    candidateDeploymentId: ownedBy(() => deployment.id),
    /** running | finished | went-back | stopped */
    state: text().notNull().default("running"),
    /** Why it went back or was stopped, as a sentence. */
    reason: text(),
    /** Percent of new sessions, ascending, below 100. */
    steps: integer().array().notNull(),
    /** Index of the current step. */
    step: integer().notNull().default(0),
    /** Percent of new sessions that the candidate gets now. */
    share: integer().notNull(),
    minutesPerStep: integer().notNull(),
    maxErrorPoints: doublePrecision().notNull(),
    maxLatencyFactor: doublePrecision().notNull(),
    minCalls: integer().notNull(),
    /** Whether both servers give out sessions, which are dealt out; else callers are. */
    hasSessions: boolean().notNull(),
    /** Incremented by each change, which fences those of several workers and people. */
    revision: integer().notNull().default(1),
    startedAt: instant().notNull(),
    stepStartedAt: instant().notNull(),
    endedAt: instant(),
    /** When a worker judges it next. */
    nextCheckAt: instant().notNull(),
    /** Who began it; null: a push. */
    startedByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
  },
  (table) => [
    uniqueIndex("gradual_release_running_index").on(table.branchId).where(sql`${table.state} = 'running'`),
    index("gradual_release_due_index").on(table.nextCheckAt).where(sql`${table.state} = 'running'`),
    index().on(table.branchId, table.startedAt),
    index().on(table.projectId, table.startedAt),
    index().on(table.stableDeploymentId),
    index().on(table.candidateDeploymentId),
    index().on(table.startedByUserId),
    check("gradual_release_share_check", sql`${table.share} BETWEEN 0 AND 100`),
    check("gradual_release_end_check", sql`(${table.state} = 'running') = (${table.endedAt} IS NULL)`),
  ],
);

export const gradualReleaseRetention: RetentionRule = { until: "owner" };

/** A deployment to production that waits for an approval, or waited for one. */
export const deploymentApproval = pgTable(
  "deployment_approval",
  {
    deploymentId: keyedBy(() => deployment.id),
    projectId: ownedBy(() => project.id),
    /** waiting | approved | rejected | replaced (by a newer build of the branch) */
    state: text().notNull().default("waiting"),
    /** Whether it is released gradually once it is approved. */
    isGradual: boolean().notNull(),
    requestedAt: instant().notNull(),
    decidedByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    decidedAt: instant(),
  },
  (table) => [index().on(table.projectId), index().on(table.decidedByUserId)],
);

export const deploymentApprovalRetention: RetentionRule = { until: "owner" };
