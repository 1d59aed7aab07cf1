import { type SQL, sql } from "drizzle-orm";

/** How long things are kept. Days are 24 hours before the sweep's clock. */
export type RetentionPolicy = {
  readonly requestLogDays: number;
  readonly serverLogDays: number;
  readonly buildLogDays: number;
  readonly auditDays: number;
  /** After its end a preview branch goes with its builds. */
  readonly endedBranchDays: number;
  /** The latest of each branch. */
  readonly buildsPerBranch: number;
  /** The latest of each branch, whose layers stay stored; what is live is always kept. */
  readonly deploymentsPerBranch: number;
};

export type RetentionMoment = { readonly now: Date; readonly policy: RetentionPolicy };

/**
 * How long the rows of a table live. Every table states it beside its schema (LOG-6); `retention.ts` collects the rules
 * and a test compares them with the database.
 *
 * - `deleted`: until a person (or GitHub) deletes them.
 * - `owner`: with the row that a foreign key with `ON DELETE CASCADE` refers to.
 * - `expired`: until the condition holds; the sweep removes them in batches. It must be served by an index.
 * - `days`: partitioned by day, in the column `time`; days before the cutoff are dropped whole.
 * - `verb`: a verb of core's `retention` (or `foldRequestLogs` of packages/logs) decides, because it takes more than a
 *   condition.
 */
export type RetentionRule =
  | { readonly until: "deleted" }
  | { readonly until: "owner" }
  | { readonly until: "expired"; readonly condition: (moment: RetentionMoment) => SQL }
  | { readonly until: "days"; readonly days: (policy: RetentionPolicy) => number }
  | { readonly until: "verb"; readonly verb: "removeSuperseded" | "removeBuildLogs" | "eraseLogs" | "foldRequestLogs" };

/** `days` before the sweep's clock, as a parameter. */
export const daysBefore = (moment: RetentionMoment, days: number): SQL =>
  sql`${new Date(moment.now.getTime() - days * 86_400_000).toISOString()}::timestamptz`;
