import { sql } from "drizzle-orm";
import { boolean, check, index, integer, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, keyedBy } from "./columns.ts";
import { project } from "./project.ts";
import { repository } from "./repository.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * The repository behind a Git URL (SRC-2), or of this instance (SRC-3), that a hosted project is built from, instead of
 * one of GitHub or a package.
 */
export const gitSource = pgTable(
  "git_source",
  {
    projectId: keyedBy(() => project.id),
    /** Without user and password: https, ssh, or http in networks that the operator names. Null: of this instance. */
    url: text(),
    /** Of this instance; null: behind the URL. */
    repositoryId: uuid().references(() => repository.id, { onDelete: "cascade" }),
    /** The live branch, as the owner named it; null: the branch of the repository's HEAD. */
    branch: text(),
    /** Whether pushes to other branches get previews: strangers' repositories have many branches, one's own few. */
    previews: boolean().notNull().default(false),
    /** token | deployKey; null: the repository is public. */
    credentialKind: text(),
    /** `GitCredential` of core, sealed for this project and the URL's origin. */
    credentialCiphertext: text(),
    /** Incremented by each new credential; the ciphertext is bound to it. */
    credentialVersion: integer().notNull().default(0),
    /** OpenSSH's line of a deploy key, to copy again; null for other credentials. */
    deployKeyPublic: text(),
    /** When a token ends, as its owner says; null: unknown or never. */
    credentialExpiresAt: instant(),
    /** Sealed; signatures of webhooks are checked with it. Null: none was made. */
    webhookSecretCiphertext: text(),
    /** When a webhook came last. */
    webhookAt: instant(),
    /** gitlab | gitea | bitbucket | github: whose API takes states of builds; null: nothing is posted. */
    statusKind: text(),
    /** The token for that, sealed for the URL's origin. */
    statusCiphertext: text(),
    /** When a state was last posted, and why the newest was refused; null: it was taken. */
    statusAt: instant(),
    statusProblem: text(),
    /** Heads of branches as last seen, by name; `json` of at most 1,000. Null before the first check. */
    heads: jsonb(),
    /** When the remote was last queried, and when it is queried next. */
    checkedAt: instant(),
    nextCheckAt: instant().notNull().defaultNow(),
    /** When a head last changed: frequently changed repositories are checked more often. */
    changedAt: instant(),
    /** `{ code, message }` of the last check; null: it succeeded. */
    problem: jsonb(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    index().on(table.nextCheckAt),
    index().on(table.repositoryId),
    check("git_source_place_check", sql`num_nonnulls(${table.url}, ${table.repositoryId}) = 1`),
    check(
      "git_source_credential_check",
      sql`num_nonnulls(${table.credentialKind}, ${table.credentialCiphertext}) <> 1`,
    ),
    check("git_source_status_check", sql`num_nonnulls(${table.statusKind}, ${table.statusCiphertext}) <> 1`),
  ],
);

export const gitSourceRetention: RetentionRule = { until: "owner" };
