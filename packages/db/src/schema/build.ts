import { bigint, index, integer, json, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { branch } from "./branch.ts";
import { instant } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

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
    /** `Diagnosis` of core's build contract, like the other JSON columns; null unless failed. */
    diagnosis: jsonb(),
    /** `BuildWarning[]`; null = none. */
    warnings: jsonb(),
    /**
     * `Manifest` of the mcp package; null until the server answered, and when a server that does its own sign-in kept
     * it. `json`, not `jsonb`: forms keep the order of arguments.
     */
    manifest: json(),
    /** `Layers`: python version, dependency and code layer digests. */
    layers: jsonb(),
    /** `BuildTimings`. */
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

/** The latest of each branch, and what has a deployment. */
export const buildRetention: RetentionRule = { until: "verb", verb: "removeSuperseded" };
