import { bigint, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/**
 * A GitHub App that was connected in the dashboard (GH-5), at github.com or an Enterprise host. The App of the environment
 * has no row.
 */
export const githubConnection = pgTable(
  "github_connection",
  {
    id: uuid().primaryKey(),
    /**
     * Part of every number of something at this connection (decision 054), so it is never reused. 0: the environment's.
     */
    number: integer().notNull().generatedAlwaysAsIdentity(),
    /** For browsers, without a trailing slash: https://github.com */
    url: text().notNull(),
    /** For REST, without a trailing slash: https://api.github.com */
    apiUrl: text().notNull(),
    appId: text().notNull(),
    /** The App's name in URLs. */
    appSlug: text().notNull(),
    clientId: text().notNull(),
    /** Login of the account that the App belongs to. */
    ownerLogin: text().notNull(),
    /** Id of a master key → the key of `secrets_ciphertext`, sealed with it. As in `data_key`. */
    wraps: jsonb().$type<Readonly<Record<string, string>>>().notNull(),
    /** JSON of client secret, private key and webhook secret, sealed for this row, its App and its host. */
    secretsCiphertext: text().notNull(),
    /** Incremented by each change of the secrets; the ciphertext is bound to it. */
    version: integer().notNull().default(1),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.number),
    uniqueIndex().on(table.apiUrl, table.appId),
    index().on(table.createdByUserId),
  ],
);

export const githubConnectionRetention: RetentionRule = { until: "deleted" };

/** The account at each connection with which a user has authorized its App last. */
export const githubUser = pgTable(
  "github_user",
  {
    userId: ownedBy(() => user.id),
    /** `number` of the connection; 0: the environment's. */
    connection: integer().notNull(),
    /** Towpath's number of the account (decision 054). */
    githubUserId: bigint({ mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.connection] }), index().on(table.githubUserId)],
);

export const githubUserRetention: RetentionRule = { until: "owner" };

/** How a project's repository at GitHub is polled in addition to webhooks (GH-6). Written by the first check. */
export const githubCheck = pgTable(
  "github_check",
  {
    projectId: keyedBy(() => project.id),
    /** Towpath's number of the repository that the rest is about: a project may change its source. */
    repositoryId: bigint({ mode: "number" }).notNull(),
    /** Of the answer that `heads` are from; null: it had none. */
    etag: text(),
    /** Heads of branches as last seen, by name; null before the first answer. */
    heads: jsonb(),
    /** When GitHub was last queried, and when it is queried next. */
    checkedAt: instant(),
    nextCheckAt: instant().notNull().defaultNow(),
    /** When a head last changed. */
    changedAt: instant(),
    /** When the last webhook about the repository arrived, and when polling last found a push without one. */
    webhookAt: instant(),
    missedAt: instant(),
    /** `{ code, message, since, tries }` of the last check; null: it succeeded. */
    problem: jsonb(),
  },
  (table) => [index().on(table.nextCheckAt)],
);

export const githubCheckRetention: RetentionRule = { until: "owner" };
