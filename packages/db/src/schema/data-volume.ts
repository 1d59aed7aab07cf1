import { bigint, pgTable, text } from "drizzle-orm/pg-core";
import { instant, keyedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The last report of the host that keeps a project's `/data` (BLD-19). The files are in its data directory. */
export const dataVolume = pgTable("data_volume", {
  projectId: keyedBy(() => project.id),
  host: text().notNull(),
  usedBytes: bigint({ mode: "number" }).notNull(),
  /** Its total size. */
  capacityBytes: bigint({ mode: "number" }).notNull(),
  measuredAt: instant().notNull(),
});

export const dataVolumeRetention: RetentionRule = { until: "owner" };
