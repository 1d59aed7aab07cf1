import { index, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** What the artifact store has (decision 059): the row is there before the bytes, and goes with them. */
export const artifact = pgTable("artifact", {
  /** Lower-case hex SHA-256 of the stored bytes, which names them. */
  digest: text().primaryKey(),
  lastUsedAt: instant().notNull().defaultNow(),
});

/** Those that no build and no repository refers to go a day after their last use. */
export const artifactRetention: RetentionRule = { until: "verb", verb: "removeArtifacts" };

/** Another name of an artifact: the hash of what a layer was made of. */
export const artifactTag = pgTable(
  "artifact_tag",
  {
    name: text().primaryKey(),
    digest: text()
      .notNull()
      .references(() => artifact.digest, { onDelete: "cascade" }),
  },
  (table) => [index().on(table.digest)],
);

export const artifactTagRetention: RetentionRule = { until: "owner" };
