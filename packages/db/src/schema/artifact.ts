import { index, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The content of the artifact store (decision 059): a row exists before its bytes, and is deleted with them. */
export const artifact = pgTable("artifact", {
  /** Lower-case hex SHA-256 of the stored bytes, which names them. */
  digest: text().primaryKey(),
  lastUsedAt: instant().notNull().defaultNow(),
});

/** Those that no build and no repository refers to go a day after their last use. */
export const artifactRetention: RetentionRule = { until: "verb", verb: "removeArtifacts" };

/** Another name of an artifact: the hash of a layer's inputs. */
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
