import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { build } from "./build.ts";
import { instant, keyedBy } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * What a build's server answered to handshakes and lists in each revision of the protocol: gateways answer with it while
 * the server is asleep (GW-12). No row: nothing was recorded. Apart from `build`, because no page reads it.
 */
export const recordedAnswers = pgTable("recorded_answers", {
  buildId: keyedBy(() => build.id),
  /** `RecordedAnswers` of the mcp package, as JSON text. */
  answers: text().notNull(),
  /** Length of `answers`. */
  bytes: integer().notNull(),
  /** The method whose answer was different for another caller; null: none was. */
  variesBy: text(),
  createdAt: instant().notNull().defaultNow(),
});

export const recordedAnswersRetention: RetentionRule = { until: "owner" };
