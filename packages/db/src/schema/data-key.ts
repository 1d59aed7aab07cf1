import { index, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The key that encrypts the variables of a project; itself only stored encrypted. */
export const dataKey = pgTable(
  "data_key",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    organizationId: ownedBy(() => organization.id),
    /** Id of a master key → the data key sealed with it. More than one while master keys are rotated. */
    wraps: jsonb().$type<Readonly<Record<string, string>>>().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.projectId), index().on(table.organizationId)],
);

export const dataKeyRetention: RetentionRule = { until: "owner" };

/** The master keys with which this database may be used. A process that has none of them doesn't start. */
export const masterKey = pgTable("master_key", {
  /** Derived from the key; safe to show. */
  id: text().primaryKey(),
  /** A known text sealed with the key, which proves more than the id does. */
  proof: text().notNull(),
  createdAt: instant().notNull().defaultNow(),
});

/** Until a rotation is finished. */
export const masterKeyRetention: RetentionRule = { until: "deleted" };
