import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { organization, user } from "./identity.ts";

const instant = () => timestamp({ withTimezone: true, precision: 3 });

/** A GitHub App installation: which account lets Towpath read which repositories, for which organization. */
export const githubInstallation = pgTable(
  "github_installation",
  {
    installationId: bigint({ mode: "number" }).notNull(),
    organizationId: uuid()
      .notNull()
      .references(() => organization.id, { onDelete: "cascade" }),
    accountLogin: text().notNull(),
    /** User | Organization, as GitHub says it. */
    accountType: text().notNull(),
    /** Since when the account's owner has suspended the App: nothing can be read through it meanwhile. */
    suspendedAt: instant(),
    installedByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.organizationId, table.installationId),
    index().on(table.installationId),
    index().on(table.installedByUserId),
  ],
);

export const project = pgTable(
  "project",
  {
    id: uuid().primaryKey(),
    organizationId: uuid()
      .notNull()
      .references(() => organization.id, { onDelete: "cascade" }),
    /** Unique over the whole instance, case-insensitively: it is the host label of the server. */
    name: text().notNull(),
    /** hosted | external */
    kind: text().notNull().default("hosted"),
    description: text(),
    installationId: bigint({ mode: "number" }),
    /** Numeric id at GitHub; webhooks find the project by it, because a repository can be renamed. */
    repositoryId: bigint({ mode: "number" }),
    /** owner/name as last seen. */
    repositoryFullName: text(),
    repositoryPrivate: boolean().notNull().default(false),
    defaultBranch: text().notNull().default("main"),
    entrypoint: text().notNull(),
    requirements: text(),
    rootDirectory: text(),
    /** passthrough | towpath-cloud | towpath-public */
    authMode: text().notNull().default("towpath-cloud"),
    /** Whether the project has a public registry page. */
    isPublic: boolean().notNull().default(false),
    /** Whether request logs keep redacted payloads. */
    capturePayloads: boolean().notNull().default(false),
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
  ],
);

export const branch = pgTable(
  "branch",
  {
    id: uuid().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    name: text().notNull(),
    isDefault: boolean().notNull().default(false),
    pullRequestNumber: integer(),
    pullRequestUrl: text(),
    createdAt: instant().notNull().defaultNow(),
    /** Set when the branch was deleted at GitHub or its pull request closed; its preview has ended. */
    endedAt: instant(),
    /** Raised by every decision about the branch: earlier questions to GitHub are then out of date (decision 007). */
    observation: bigint({ mode: "number" }).notNull().default(0),
    /** When GitHub last said that the branch changed; null once an answer asked for after that was acted on. */
    hintedAt: instant(),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.name),
    index("branch_hinted_index").on(table.hintedAt).where(sql`${table.hintedAt} IS NOT NULL`),
  ],
);

/** One attempt to turn one commit into layers and a manifest. Immutable once it has ended. */
export const build = pgTable(
  "build",
  {
    id: uuid().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    branchId: uuid()
      .notNull()
      .references(() => branch.id, { onDelete: "cascade" }),
    /** queued | building | succeeded | failed | canceled */
    status: text().notNull().default("queued"),
    commitSha: text().notNull(),
    commitMessage: text(),
    commitAuthor: text(),
    pullRequestNumber: integer(),
    pullRequestUrl: text(),
    /** quickstart | import | push | redeploy | cli */
    trigger: text().notNull(),
    /** Order of pushes on the branch; a rollout with a lower one never replaces a higher one. */
    sequence: bigint({ mode: "number" }).notNull(),
    /** Raised whenever a worker takes the build; a worker whose attempt is not the current one must stop. */
    attempt: integer().notNull().default(0),
    /** Entrypoint and requirements as they were when the build was created. */
    entrypoint: text().notNull(),
    requirements: text(),
    /** `Diagnosis` of the builder; null unless failed. */
    diagnosis: jsonb(),
    /** `BuildWarning[]` of the builder; null = none. */
    warnings: jsonb(),
    /**
     * `Manifest` of the mcp package; null until the server answered, and when a server that does its own sign-in kept
     * it. `json`, not `jsonb`: forms keep the order of arguments.
     */
    manifest: json(),
    /** `Layers` of the builder: python version, dependency and code layer digests. */
    layers: jsonb(),
    /** Wall time of each phase, milliseconds, by phase name. */
    timings: jsonb(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
    startedAt: instant(),
    endedAt: instant(),
  },
  (table) => [
    // Ascending: read backwards they serve `ORDER BY … DESC` as it stands. Drizzle's `.desc()` would make them
    // `DESC NULLS LAST`, which only a query that says so can use.
    index().on(table.projectId, table.createdAt, table.id),
    index().on(table.branchId, table.sequence),
    index().on(table.status),
    index().on(table.createdByUserId),
  ],
);

/** A build made servable. Immutable: what is live is said by `route`. */
export const deployment = pgTable(
  "deployment",
  {
    id: uuid().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    branchId: uuid()
      .notNull()
      .references(() => branch.id, { onDelete: "cascade" }),
    buildId: uuid()
      .notNull()
      .references(() => build.id, { onDelete: "cascade" }),
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

export const secret = pgTable(
  "secret",
  {
    id: uuid().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    keyName: text().notNull(),
    /** Subset of production, preview. */
    environments: text().array().notNull(),
    description: text(),
    sensitive: boolean().notNull().default(false),
    version: integer().notNull().default(1),
    /** AES-256-GCM: key id, nonce, ciphertext and tag, each base64url, joined by dots. */
    ciphertext: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.projectId, table.keyName)],
);

/** What the runner knows of a server process. One row an instance that was ever started. */
export const instance = pgTable(
  "instance",
  {
    id: uuid().primaryKey(),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: "cascade" }),
    /** starting | ready | frozen | stopping | stopped | crashed */
    state: text().notNull(),
    startedAt: instant().notNull().defaultNow(),
    readyAt: instant(),
    endedAt: instant(),
    /** Why it ended, for people; null while it runs. */
    endReason: text(),
    exitCode: integer(),
    restarts: integer().notNull().default(0),
  },
  (table) => [index().on(table.deploymentId, table.startedAt)],
);

export const webhookDelivery = pgTable(
  "webhook_delivery",
  {
    /** X-GitHub-Delivery */
    id: text().primaryKey(),
    event: text().notNull(),
    payload: jsonb().notNull(),
    receivedAt: instant().notNull().defaultNow(),
    processedAt: instant(),
  },
  (table) => [index("webhook_delivery_open_index").on(table.receivedAt).where(sql`${table.processedAt} IS NULL`)],
);

export const auditLog = pgTable(
  "audit_log",
  {
    id: uuid().primaryKey(),
    organizationId: uuid().references(() => organization.id, { onDelete: "cascade" }),
    projectId: uuid(),
    /** user:<id>, operator, or job:<name> */
    actor: text().notNull(),
    /** The verb, for example `project.create`. */
    action: text().notNull(),
    subject: text(),
    detail: jsonb(),
    ipAddress: text(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.organizationId, table.createdAt)],
);

/** What each host's runner last reported about its isolation, every half minute (RUN-1). */
export const hostIsolation = pgTable("host_isolation", {
  /** Name of the host. */
  host: text().primaryKey(),
  /** `isolationReportSchema` of core. */
  report: jsonb().notNull(),
  reportedAt: instant().notNull(),
});
