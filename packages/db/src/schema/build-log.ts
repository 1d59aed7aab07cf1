import { integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** A line of a build's log, in order of `line`. */
export const buildLog = pgTable(
  "build_log",
  {
    buildId: uuid().notNull(),
    /** 1, 2, 3, … within the build. */
    line: integer().notNull(),
    time: instant().notNull(),
    /** fetch | plan | install | inspect | rollout */
    phase: text().notNull(),
    /** step (what Towpath does and why) | output (what a tool printed) | warning | error */
    kind: text().notNull(),
    text: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.buildId, table.line] })],
);

/** Deleted by age, at the latest with the build. */
export const buildLogRetention: RetentionRule = { until: "verb", verb: "removeBuildLogs" };
