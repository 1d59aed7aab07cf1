import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { build } from "./build.ts";
import { instant, keyedBy } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * A server's answers to handshakes and lists in each revision of the protocol, from its build: gateways use them while
 * the server is asleep (GW-12). No row: nothing was recorded. Separate from `build`, because no page reads it.
 */
export const recordedAnswers = pgTable("recorded_answers", {
  buildId: keyedBy(() => build.id),
  /** `RecordedAnswers` of the mcp package, as JSON text. */
  answers: text().notNull(),
  /** Length of `answers`. */
  bytes: integer().notNull(),
  /** The method whose answer differed for another caller; null: none. */
  variesBy: text(),
  createdAt: instant().notNull().defaultNow(),
});

export const recordedAnswersRetention: RetentionRule = { until: "owner" };
