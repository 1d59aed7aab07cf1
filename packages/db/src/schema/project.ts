import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

export const project = pgTable(
  "project",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    /** Unique in the whole instance, ignoring case: it is the host label of the server. */
    name: text().notNull(),
    /** hosted | external | portal. Only hosted ones have a repository or package, branches and builds. */
    kind: text().notNull().default("hosted"),
    description: text(),
    /** Towpath's number of the GitHub installation that reads the repository (decision 054). */
    installationId: bigint({ mode: "number" }),
    /** Of a hosted one: the package on the index that it runs, normalized as in PEP 503, instead of a repository. */
    packageName: text(),
    /** Whether a newer version of the package is built when the index has one. */
    followsPackage: boolean().notNull().default(false),
    /** Towpath's number of the repository at GitHub (decision 054). Webhooks find the project by it, because a repository can be renamed. */
    repositoryId: bigint({ mode: "number" }),
    /** owner/name as last seen. */
    repositoryFullName: text(),
    repositoryPrivate: boolean().notNull().default(false),
    /** The branch that goes live. */
    defaultBranch: text().notNull().default("main"),
    /** The live branch of GitHub's repository, as the owner named it; null: the repository's default branch. */
    githubBranch: text(),
    /** When its source last changed: earlier builds are of another source. Null: never. */
    sourceChangedAt: instant(),
    /** Empty: each build finds it in its commit. Also empty unless hosted. */
    entrypoint: text().notNull(),
    /** Arguments of the program that the entrypoint starts. Not for secrets: they are shown and logged. */
    arguments: text().array().notNull().default(sql`'{}'::text[]`),
    requirements: text(),
    /** Relative to the repository's root, which null means. */
    rootDirectory: text(),
    /** Patterns of paths (BLD-15); a push that changes none of them builds nothing. Empty: every push builds. */
    watchPaths: text().array().notNull().default(sql`'{}'::text[]`),
    /** Whether the check of a build fails that breaks callers of the live version (BLD-14). */
    failOnBreakingChanges: boolean().notNull().default(false),
    /** passthrough | towpath-cloud | towpath-public */
    authMode: text().notNull().default("towpath-cloud"),
    /** Whether the project has a public registry page. */
    isPublic: boolean().notNull().default(false),
    /** Whether request logs keep redacted payloads. */
    capturePayloads: boolean().notNull().default(false),
    /** Failures of one group in an hour from which on it is reported (CAP-6); null: never. */
    errorsPerHour: integer(),
    /** Whether the server gets a signed assertion of its caller in addition to the headers (GW-11). */
    identityAssertion: boolean().notNull().default(false),
    /** How many callers with values of their own may be served at a time, each by an instance of their own (CAP-1). */
    callerInstances: integer().notNull().default(20),
    /** `CallerProbe` of packages/core: the tool call by which a caller's values are checked (CAP-1); null: none. */
    callerProbe: jsonb(),
    /** `ReplaySetting` of core: how calls of production are replayed on previews (CAP-4); null: none is sampled. */
    replay: jsonb(),
    /** `CheckQuestions` of core: what a model is asked with production's and a preview's tools (CAP-4); null: nothing. */
    checkQuestions: jsonb(),
    /** off | stable | always: whether gateways answer lists from `recorded_answers` while the server is asleep (GW-12). */
    sleepingLists: text().notNull().default("off"),
    /** How long results of calls are kept that lost their client or have a key (CAP-2); 0: they aren't. */
    keepResultsMinutes: integer().notNull().default(10),
    /** How long a call may run without its client, and so how long a redeploy and a freeze wait for it. */
    unattendedMinutes: integer().notNull().default(60),
    /** Whether production's server has a directory `/data` that outlives it (BLD-19). */
    keepsData: boolean().notNull().default(false),
    /** When that was switched off last, unless it is on again: the data is kept a while longer. */
    dataOffAt: instant(),
    /** Admin JWTs name it: incrementing it revokes all that were issued before (PRJ-10). */
    adminJwtGeneration: integer().notNull().default(0),
    /** When all first steps (SRC-4) were found to be done; null: not all of them yet, or nobody looked. */
    firstStepsDoneAt: instant(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("project_name_unique").on(sql`lower(${table.name})`),
    index().on(table.organizationId),
    index().on(table.repositoryId),
    index().on(table.installationId),
    index().on(table.createdByUserId),
    index("project_followed_package_index").on(table.packageName).where(sql`${table.followsPackage}`),
  ],
);

export const projectRetention: RetentionRule = { until: "deleted" };
