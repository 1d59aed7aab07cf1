import { index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { build } from "./build.ts";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** A build that can be served. Immutable; `route` says which deployment is live. */
export const deployment = pgTable(
  "deployment",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    branchId: ownedBy(() => branch.id),
    buildId: ownedBy(() => build.id),
    /** production | preview */
    environment: text().notNull(),
    /** Host label: the project's name, for previews followed by the branch. */
    slug: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.buildId),
    index().on(table.projectId, table.createdAt, table.id),
    index().on(table.branchId),
  ],
);

/** Keeps live deployments, and the latest of each branch. */
export const deploymentRetention: RetentionRule = { until: "verb", verb: "removeSuperseded" };
