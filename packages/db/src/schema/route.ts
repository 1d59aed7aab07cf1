import { bigint, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { instant } from "./columns.ts";
import { deployment } from "./deployment.ts";
import { project } from "./project.ts";

/** Host label → deployment. The only row that a promotion, rollout or rollback changes. */
export const route = pgTable(
  "route",
  {
    label: text().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    branchId: uuid()
      .notNull()
      .references(() => branch.id, { onDelete: "cascade" }),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: "cascade" }),
    /** `build.sequence` of the deployment: the fence of the compare-and-swap. */
    sequence: bigint({ mode: "number" }).notNull(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.branchId), index().on(table.projectId), index().on(table.deploymentId)],
);
