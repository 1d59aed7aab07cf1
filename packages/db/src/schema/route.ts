import { sql } from "drizzle-orm";
import { bigint, check, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { instant, ownedBy } from "./columns.ts";
import { deployment } from "./deployment.ts";
import { externalServer } from "./external-server.ts";
import { portal } from "./portal.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * Host label → target: exactly one of a deployment, an external server and a portal. The project's auth mode, limits
 * and request log apply. A promotion, rollout or rollback changes only this row.
 */
export const route = pgTable(
  "route",
  {
    label: text().primaryKey(),
    projectId: ownedBy(() => project.id),
    targetKind: text({ enum: ["deployment", "external", "portal"] })
      .notNull()
      .default("deployment"),
    /** The branch whose live deployment the label points to; null for other targets. */
    branchId: uuid().references(() => branch.id, { onDelete: "cascade" }),
    deploymentId: uuid().references(() => deployment.id, { onDelete: "cascade" }),
    externalServerId: uuid().references(() => externalServer.id, { onDelete: "cascade" }),
    portalId: uuid().references(() => portal.id, { onDelete: "cascade" }),
    /** `build.sequence` of the deployment, which fences the compare-and-swap. 0 for other targets. */
    sequence: bigint({ mode: "number" }).notNull().default(0),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.branchId),
    index().on(table.projectId),
    index().on(table.deploymentId),
    index().on(table.externalServerId),
    index().on(table.portalId),
    check(
      "route_target_check",
      sql`num_nonnulls(${table.deploymentId}, ${table.externalServerId}, ${table.portalId}) = 1
        AND (${table.branchId} IS NOT NULL) = (${table.targetKind} = 'deployment')
        AND CASE ${table.targetKind}
          WHEN 'deployment' THEN ${table.deploymentId} IS NOT NULL
          WHEN 'external' THEN ${table.externalServerId} IS NOT NULL
          WHEN 'portal' THEN ${table.portalId} IS NOT NULL
          ELSE false END`,
    ),
  ],
);

export const routeRetention: RetentionRule = { until: "owner" };
