import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/**
 * A Git repository of this instance (SRC-3). Its commits are in a directory of the data directory that is named by the id,
 * so that no name ever becomes a path, or in bundles.
 */
export const repository = pgTable(
  "repository",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    /** Lower case; last part of its clone URL. */
    name: text().notNull(),
    /** The branch that HEAD names. */
    defaultBranch: text().notNull().default("main"),
    /** push | deploy | upload | forge: who put code there first. The terminal writes only to what it created. */
    madeBy: text().notNull(),
    /** Null: by a key of the organization or by the operator, or their account was deleted. */
    createdBy: uuid().references(() => user.id, { onDelete: "set null" }),
    /** When commits last arrived; null: never. */
    pushedAt: instant(),
    /** Towpath's numbers (decision 054) of the repository at GitHub that is to continue it; null: none yet. */
    githubInstallationId: bigint({ mode: "number" }),
    githubRepositoryId: bigint({ mode: "number" }),
    /** owner/name as last seen, and its address for browsers. */
    githubFullName: text(),
    githubUrl: text(),
    /** Until when at the latest it is being moved there and takes no pushes; null: it isn't. */
    movingUntil: instant(),
    /** When its servers moved there. Since then it is read-only. */
    continuedAt: instant(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.organizationId, table.name), index().on(table.createdBy)],
);

export const repositoryRetention: RetentionRule = { until: "owner" };

/**
 * A repository whose commits are bundles in the artifact store; only those named here count (decision 056). Replaced as
 * a whole, if its generation is unchanged.
 */
export const repositoryBundles = pgTable("repository_bundles", {
  repositoryId: keyedBy(() => repository.id),
  /** Incremented by each change. */
  generation: integer().notNull().default(0),
  /** The branch that HEAD names. */
  head: text().notNull(),
  /** Full names of refs → what they name. */
  refs: jsonb().notNull().default({}),
  /** Digests of artifacts, each of which builds on those before it. */
  bundles: text().array().notNull().default(sql`'{}'::text[]`),
  updatedAt: instant().notNull().defaultNow(),
});

export const repositoryBundlesRetention: RetentionRule = { until: "owner" };
