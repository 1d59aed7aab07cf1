import { bigint, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { build } from "./build.ts";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import { daysAfter, type RetentionRule } from "./retention-rule.ts";

/** The last report to GitHub about a branch (BLD-8). The reporting worker holds the claim, which keeps the order. */
export const branchReport = pgTable("branch_report", {
  branchId: keyedBy(() => branch.id),
  /** Until when one worker alone reports; null: nobody does. */
  claimedUntil: instant(),
  /** The check run of a head without a build, such as one that waits for approval. */
  headCommitSha: text(),
  headCheckRunId: bigint({ mode: "number" }),
  /** Digest of what that check run says. */
  headCheck: text(),
});

export const branchReportRetention: RetentionRule = { until: "owner" };

/** The last report to GitHub about a build: a check run and a deployment, each with its id there. */
export const buildReport = pgTable("build_report", {
  buildId: keyedBy(() => build.id),
  /** null: none, or a commit status, which has no id that is needed again. */
  checkRunId: bigint({ mode: "number" }),
  /** Digest of what the check run says; null before it says anything. */
  check: text(),
  deploymentId: bigint({ mode: "number" }),
  /** State of the deployment's newest status, as GitHub names it. */
  deploymentState: text(),
});

export const buildReportRetention: RetentionRule = { until: "owner" };

/** The one comment in a pull request about all servers that an organization deploys from the repository. */
export const pullRequestComment = pgTable(
  "pull_request_comment",
  {
    organizationId: ownedBy(() => organization.id),
    repositoryId: bigint({ mode: "number" }).notNull(),
    number: integer().notNull(),
    commentId: bigint({ mode: "number" }),
    /** Digest of the comment's text; null before it was written. */
    content: text(),
    claimedUntil: instant(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.repositoryId, table.number] }),
    index().on(table.updatedAt),
  ],
);

/** A comment whose row is gone is found again by the mark in its text. */
export const pullRequestCommentRetention = daysAfter(90, pullRequestComment.updatedAt);
