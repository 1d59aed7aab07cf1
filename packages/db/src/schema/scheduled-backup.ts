import { bigint, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The result of scheduled back-ups: one row, replaced by each attempt; none without a schedule. */
export const scheduledBackup = pgTable("scheduled_backup", {
  /** Always 1. */
  id: integer().primaryKey(),
  everyHours: integer().notNull(),
  /** When the newest attempt began, and ended; null while it runs. */
  startedAt: instant().notNull(),
  endedAt: instant(),
  /** Why it failed, for the operator; null: it didn't. */
  problem: text(),
  /** The newest that was made; null: none yet. */
  madeAt: instant(),
  name: text(),
  bytes: bigint({ mode: "number" }),
});

/** The worker removes the row when there is no schedule any more. */
export const scheduledBackupRetention: RetentionRule = { until: "deleted" };
