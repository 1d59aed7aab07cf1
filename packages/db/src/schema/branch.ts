import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

export const branch = pgTable(
  "branch",
  {
    id: uuid().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    name: text().notNull(),
    isDefault: boolean().notNull().default(false),
    pullRequestNumber: integer(),
    pullRequestUrl: text(),
    createdAt: instant().notNull().defaultNow(),
    /** Set when the branch was deleted at GitHub or its pull request closed; its preview has ended. */
    endedAt: instant(),
    /** Raised by every decision about the branch: earlier questions to GitHub are then out of date (decision 007). */
    observation: bigint({ mode: "number" }).notNull().default(0),
    /** When GitHub last said that the branch changed; null once an answer asked for after that was acted on. */
    hintedAt: instant(),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.name),
    index("branch_hinted_index").on(table.hintedAt).where(sql`${table.hintedAt} IS NOT NULL`),
  ],
);

/** Branches that have ended, after a while, with all that was built of them. */
export const branchRetention: RetentionRule = { until: "verb", verb: "removeSuperseded" };
