import { bigint, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** What the host that keeps a project's `/data` last reported of it (BLD-19). The files are in its data directory. */
export const dataVolume = pgTable("data_volume", {
  projectId: uuid()
    .primaryKey()
    .references(() => project.id, { onDelete: "cascade" }),
  host: text().notNull(),
  usedBytes: bigint({ mode: "number" }).notNull(),
  /** What fits into it altogether. */
  capacityBytes: bigint({ mode: "number" }).notNull(),
  measuredAt: instant().notNull(),
});

export const dataVolumeRetention: RetentionRule = { until: "owner" };
