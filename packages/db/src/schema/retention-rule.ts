import { type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";

/** How long data is kept. A day is 24 hours before the sweep's time. */
export type RetentionPolicy = {
  readonly requestLogDays: number;
  readonly serverLogDays: number;
  readonly buildLogDays: number;
  readonly auditDays: number;
  /** A preview branch is removed with its builds this long after it ended. */
  readonly endedBranchDays: number;
  /** How many of the latest are kept. */
  readonly buildsPerBranch: number;
  /** How many of the latest are kept, with their layers. Live deployments are always kept. */
  readonly deploymentsPerBranch: number;
};

export type RetentionMoment = { readonly now: Date; readonly policy: RetentionPolicy };

/**
 * How long the rows of a table are kept. Every table states it beside its schema (LOG-6); `retention.ts` collects the
 * rules, and a test compares them with the database.
 *
 * - `deleted`: until a user (or GitHub) deletes them.
 * - `owner`: as long as the row to which a foreign key with `ON DELETE CASCADE` refers.
 * - `expired`: until the condition is true; the sweep removes them in batches. The condition needs an index.
 * - `days`: partitioned by day of the column `time`; partitions before the cutoff are dropped.
 * - `verb`: decided by a verb of core's `retention` (or `groupFailures` of its `error-group`, `foldRequestLogs` of
 *   packages/logs, or the worker's `removeArtifacts`), because a condition isn't enough.
 */
export type RetentionRule =
  | { readonly until: "deleted" }
  | { readonly until: "owner" }
  | { readonly until: "expired"; readonly condition: (moment: RetentionMoment) => SQL }
  | { readonly until: "days"; readonly days: (policy: RetentionPolicy) => number }
  | {
      readonly until: "verb";
      readonly verb:
        | "removeSuperseded"
        | "removeBuildLogs"
        | "removeSecretVersions"
        | "removeArtifacts"
        | "eraseLogs"
        | "foldRequestLogs"
        | "groupFailures";
    };

/** `days` before the sweep's time, as a query parameter. */
export const daysBefore = (moment: RetentionMoment, days: number): SQL =>
  sql`${new Date(moment.now.getTime() - days * 86_400_000).toISOString()}::timestamptz`;

/** Rows go so many days after the time in a column; those where it is null stay. */
export const daysAfter = (days: number, column: AnyPgColumn): RetentionRule => ({
  until: "expired",
  condition: (moment) => sql`${column} < ${daysBefore(moment, days)}`,
});
