import { bigint, index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { instant, keyedBy } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/**
 * A pull request from another repository, beside the row of `branch` that its builds belong to. Only the commit that a
 * member approved is built (BLD-9): a newer one sets `state` back to `waiting`.
 */
export const forkPullRequest = pgTable(
  "fork_pull_request",
  {
    branchId: keyedBy(() => branch.id),
    /** The fork: numeric id at GitHub, because it can be renamed; null once it was deleted. */
    repositoryId: bigint({ mode: "number" }),
    /** owner/name and branch, as last seen. */
    repositoryFullName: text(),
    headBranch: text().notNull(),
    /** Login of the account that opened the pull request. */
    author: text().notNull(),
    title: text().notNull(),
    /** The head that `state` is about. */
    commitSha: text().notNull(),
    commitMessage: text(),
    commitAuthor: text(),
    /** waiting | approved | declined | closed */
    state: text().notNull().default("waiting"),
    /** When this head was first seen. */
    waitingSince: instant().notNull().defaultNow(),
    decidedByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    decidedAt: instant(),
  },
  (table) => [index().on(table.decidedByUserId)],
);

export const forkPullRequestRetention: RetentionRule = { until: "owner" };
