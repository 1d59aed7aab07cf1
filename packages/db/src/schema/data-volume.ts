import { bigint, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The last report of the host that keeps a project's `/data` (BLD-19). The files are in its data directory. */
export const dataVolume = pgTable("data_volume", {
  projectId: uuid()
    .primaryKey()
    .references(() => project.id, { onDelete: "cascade" }),
  host: text().notNull(),
  usedBytes: bigint({ mode: "number" }).notNull(),
  /** Its total size. */
  capacityBytes: bigint({ mode: "number" }).notNull(),
  measuredAt: instant().notNull(),
});

export const dataVolumeRetention: RetentionRule = { until: "owner" };
