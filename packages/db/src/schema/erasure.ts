import { index, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * Rows that were deleted while logs still refer to them without a foreign key. Triggers on these tables fill it
 * (see migrations), so no verb can forget it; the sweep erases the logs.
 */
export const erasure = pgTable(
  "erasure",
  {
    /** project | deployment | build */
    kind: text().notNull(),
    subjectId: uuid().notNull(),
    requestedAt: instant().notNull().defaultNow(),
    /** When the sweep looks (again): log rows may still wait on a gateway's disk. */
    nextAt: instant().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.subjectId] }), index().on(table.nextAt)],
);

/** A day after the deletion, when nothing was left. */
export const erasureRetention: RetentionRule = { until: "verb", verb: "eraseLogs" };
