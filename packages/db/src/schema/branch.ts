import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

export const branch = pgTable(
  "branch",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    name: text().notNull(),
    isDefault: boolean().notNull().default(false),
    pullRequestNumber: integer(),
    pullRequestUrl: text(),
    createdAt: instant().notNull().defaultNow(),
    /** When the preview ended, because the branch was deleted at GitHub or its pull request closed. */
    endedAt: instant(),
    /** Incremented by every decision about the branch, which invalidates earlier requests to GitHub (decision 007). */
    observation: bigint({ mode: "number" }).notNull().default(0),
    /** When GitHub last reported a change of the branch; null once a later response of GitHub was applied. */
    hintedAt: instant(),
    /** The newest head, if it built nothing because it changes no watched path (BLD-15); null once a later one builds. */
    skippedCommitSha: text(),
    skippedCommitMessage: text(),
    skippedAt: instant(),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.name),
    index("branch_hinted_index").on(table.hintedAt).where(sql`${table.hintedAt} IS NOT NULL`),
  ],
);

/** Ended branches are deleted with their builds after a while. */
export const branchRetention: RetentionRule = { until: "verb", verb: "removeSuperseded" };
