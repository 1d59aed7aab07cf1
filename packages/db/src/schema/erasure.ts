import { index, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * Deleted rows to which logs still refer without a foreign key. Triggers on their tables fill it (see migrations), so
 * that no verb can forget it. The sweep erases the logs.
 */
export const erasure = pgTable(
  "erasure",
  {
    /** project | deployment | build */
    kind: text().notNull(),
    subjectId: uuid().notNull(),
    requestedAt: instant().notNull().defaultNow(),
    /** When the sweep checks next: log rows may still be buffered on a gateway's disk. */
    nextAt: instant().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.subjectId] }), index().on(table.nextAt)],
);

/** Removed a day after the deletion, once no log row is left. */
export const erasureRetention: RetentionRule = { until: "verb", verb: "eraseLogs" };
