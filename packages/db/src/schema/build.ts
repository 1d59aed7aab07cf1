import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** One attempt to turn one commit into layers and a manifest. Immutable once it has ended. */
export const build = pgTable(
  "build",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    branchId: ownedBy(() => branch.id),
    /** queued | building | succeeded | failed | canceled */
    status: text().notNull().default("queued"),
    commitSha: text().notNull(),
    /** The version of a package. `commitSha` then identifies name and version. */
    packageVersion: text(),
    /** `BuiltFrom` of core: its repository, URL or package; null: a build by an earlier version. */
    builtFrom: jsonb(),
    commitMessage: text(),
    commitAuthor: text(),
    pullRequestNumber: integer(),
    pullRequestUrl: text(),
    /** quickstart | import | push | redeploy | cli | promote | package */
    trigger: text().notNull(),
    /** For a promotion: the preview's build, whose layers it has from the start; null when that was removed. */
    promotedFromBuildId: uuid().references((): AnyPgColumn => build.id, { onDelete: "set null" }),
    /**
     * Whether somebody asked to release it gradually; null: as the project's setting says. False: it restores what is live,
     * so it goes live at once and needs no approval.
     */
    isGradual: boolean(),
    /** Order of pushes on the branch; a rollout never replaces a higher sequence with a lower one. */
    sequence: bigint({ mode: "number" }).notNull(),
    /** Incremented when a worker takes the build; a worker with an older attempt must stop. */
    attempt: integer().notNull().default(0),
    /** The name of the process that took it; null before, and for builds by earlier versions. */
    worker: text(),
    /** Entrypoint, arguments and requirements as they were when the build was created. */
    entrypoint: text().notNull(),
    arguments: text().array().notNull().default(sql`'{}'::text[]`),
    requirements: text(),
    /** As it was then, like these; null is the repository's root. */
    rootDirectory: text(),
    /** `Diagnosis` of core's build contract, like the other JSON columns; null unless failed. */
    diagnosis: jsonb(),
    /** `BuildWarning[]`; null = none. */
    warnings: jsonb(),
    /** Whether the inspected server refused a caller without credentials; null before, and of builds by earlier versions. */
    ownSignIn: boolean(),
    /** Of `server_icon`: the icon that the inspected server named; null: none. */
    iconHash: text(),
    /**
     * `Manifest` of the mcp package; null until the server responded, and when a server with its own sign-in doesn't
     * disclose it. `json` rather than `jsonb`, which loses the order of arguments.
     */
    manifest: json(),
    /** `Layers`: python version, dependency and code layer digests. */
    layers: jsonb(),
    /**
     * `Resolution`: the installed versions. For a queued build, the versions to install again; null: the index's
     * current ones. Null for builds by earlier versions.
     */
    resolution: jsonb(),
    /** `Program`: what is started. Null until the build knows, and for builds by earlier versions: as set above. */
    program: jsonb(),
    /** `BuildTimings`. */
    timings: jsonb(),
    /** `secretVersion.id` of its variables; null before, and for builds by earlier versions of Towpath. */
    secretVersionIds: uuid().array(),
    /** The span that requested it (W3C Trace Context), under which its own are; null: not traced. */
    traceparent: text(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
    startedAt: instant(),
    endedAt: instant(),
  },
  (table) => [
    // Ascending: scanned backwards they serve `ORDER BY … DESC`. Drizzle's `.desc()` would create `DESC NULLS LAST`,
    // which only queries with the same clause can use.
    index().on(table.projectId, table.createdAt, table.id),
    index().on(table.branchId, table.sequence),
    index().on(table.status),
    index().on(table.createdByUserId),
    index().on(table.promotedFromBuildId),
  ],
);

/** Keeps the latest builds of each branch, and those with a deployment. */
export const buildRetention: RetentionRule = { until: "verb", verb: "removeSuperseded" };
