import { boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The current variables of a project: the next build gets these. */
export const secret = pgTable(
  "secret",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    keyName: text().notNull(),
    /** Subset of production, preview. */
    environments: text().array().notNull(),
    description: text(),
    sensitive: boolean().notNull().default(false),
    /** Each caller brings a value of their own; this one is for builds only (CAP-1). */
    perCaller: boolean().notNull().default(false),
    version: integer().notNull().default(1),
    /** See `createSecretBox` of packages/secrets. */
    ciphertext: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.projectId, table.keyName)],
);

export const secretRetention: RetentionRule = { until: "deleted" };

/**
 * Every version of each variable, copied here by a trigger of `secret`. A build names its versions, and its deployments
 * start with them, even if they have changed or were deleted since.
 */
export const secretVersion = pgTable(
  "secret_version",
  {
    id: uuid().primaryKey().defaultRandom(),
    projectId: ownedBy(() => project.id),
    /** No foreign key: versions outlive a deleted variable. */
    secretId: uuid().notNull(),
    keyName: text().notNull(),
    environments: text().array().notNull(),
    version: integer().notNull(),
    ciphertext: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.secretId, table.version), index().on(table.projectId)],
);

/** Keeps the newest of each variable, and what builds with a deployment or under way refer to. */
export const secretVersionRetention: RetentionRule = { until: "verb", verb: "removeSecretVersions" };
