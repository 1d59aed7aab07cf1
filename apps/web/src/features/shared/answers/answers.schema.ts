import {
  buildLogEntrySchema,
  buildPhases,
  buildStatusSchema,
  buildTriggerSchema,
  buildWarningSchema,
  diagnosisSchema,
} from "@towpath/core/delivery/build/contract";
import { authModeSchema, sleepingListsSchema } from "@towpath/core/projects/project/schema";
import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import { listOf, named, names, time } from "~/http/rest/answer-names.ts";
import { archiveCommit, projectSource, repository } from "./project-source.schema.ts";

// REST answers about servers, builds and variables. The operations' types are checked against them, and they make up
// `openapi.json` (OPS-4).

const deployment = named(
  "Deployment",
  z.object({
    id: z.uuid(),
    slug: z.string().describe("the label of its address"),
    isLive: z.boolean(),
    url: z.url(),
    createdAt: time,
    isProd: z.boolean(),
    isBranch: z.boolean(),
  }),
);

const packageVersion = z.string().nullable().describe("of a package; null for a commit");

const buildSummary = named(
  "BuildSummary",
  z.object({
    id: z.uuid(),
    status: buildStatusSchema,
    trigger: buildTriggerSchema,
    commitSha: z.string(),
    packageVersion,
    commitMessage: z.string().nullable(),
    commitAuthor: z.string().nullable(),
    startedBy: z.string().nullable(),
    promotedFromBuildId: z.uuid().nullable(),
    prNumber: z.number().int().nullable(),
    prUrl: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
    diagnosis: named("Diagnosis", diagnosisSchema).nullable(),
    warningCount: z.number().int(),
    githubRepository: z
      .object({ id: z.number().int(), name: z.string(), defaultBranch: z.string(), fullName: z.string() })
      .nullable(),
    branch: z.object({
      id: z.uuid(),
      name: z.string(),
      isEnded: z.boolean().describe("deleted, or its pull request closed: it has no preview any more"),
    }),
    deployment: deployment.nullable(),
    project: z.object({
      id: z.uuid(),
      name: z.string(),
      orgSlug: z.string(),
      authMode: authModeSchema,
      defaultBranch: z.string(),
      isPublic: z.boolean(),
    }),
  }),
);

const manifest = named("Manifest", manifestSchema);
const warnings = listOf(named("Warning", buildWarningSchema));

const build = named(
  "Build",
  buildSummary.extend({
    manifest: manifest.nullable(),
    warnings,
    timings: z.partialRecord(z.enum(buildPhases), z.number()).describe("milliseconds by phase").readonly(),
    entrypoint: z.string().describe("what it starts; empty until it was found"),
    arguments: names,
    findsEntrypoint: z.boolean().describe("the settings name no entrypoint, so the build finds it"),
    requirements: z.string().nullable(),
    pythonVersion: z.string().nullable(),
    attempt: z.number().int(),
  }),
);

const project = named(
  "Server",
  z.object({
    id: z.uuid(),
    orgSlug: z.string(),
    name: z.string(),
    pathName: z.string().describe("in addresses of the dashboard"),
    kind: z.enum(["hosted", "external", "portal"]),
    description: z.string().nullable(),
    authMode: authModeSchema,
    isPublic: z.boolean(),
    capturePayloads: z.boolean(),
    identityAssertion: z.boolean(),
    sleepingLists: sleepingListsSchema,
    keepsData: z.boolean(),
    entrypoint: z.string().describe("empty: each build finds it"),
    arguments: names,
    requirements: z.string().nullable(),
    rootDirectory: z.string().nullable(),
    watchPaths: names,
    failOnBreakingChanges: z.boolean(),
    defaultBranch: z.string(),
    githubRepository: z
      .object({
        id: z.number().int(),
        name: z.string(),
        fullName: z.string(),
        defaultBranch: z.string(),
        private: z.boolean(),
        installationId: z.number().int().nullable(),
      })
      .nullable(),
    source: projectSource,
    package: z.object({ name: z.string(), follows: z.boolean() }).nullable(),
    external: z
      .object({
        url: z.string(),
        problem: z.object({ code: z.string(), message: z.string() }).nullable(),
        checkedAt: time.nullable(),
      })
      .nullable(),
    url: z.url().describe("of production, whether or not something is live there"),
    isLive: z.boolean(),
    liveWarnings: z.number().int(),
    rolledBackTo: z
      .object({ commitSha: z.string(), packageVersion })
      .nullable()
      .describe("the version in production, if somebody went back to it"),
    instanceState: z.enum(["awake", "asleep", "starting", "stopped", "crashed"]).nullable(),
    ownSignIn: z.boolean().nullable(),
    createdAt: time,
    updatedAt: time,
  }),
);

const detail = project.extend({
  role: z.enum(["owner", "admin", "member", "viewer"]),
  mayCall: z.boolean(),
  data: z.object({ usedBytes: z.number(), capacityBytes: z.number(), measuredAt: time }).nullable(),
  deployments: listOf(deployment),
});

const latestBuild = z.object({
  id: z.uuid(),
  status: buildStatusSchema,
  commitSha: z.string(),
  commitMessage: z.string().nullable(),
  createdAt: time,
});

const listed = project.extend({
  deployments: listOf(deployment),
  latestBuild: latestBuild.extend({ warningCount: z.number().int() }).nullable(),
  waitingForkPullRequests: z.number().int().describe("from forks, open: their newest commit waits for approval"),
  live: z.object({ buildId: z.uuid(), tools: z.number().int().nullable() }).nullable(),
});

const status = z.object({
  branch: z.object({ id: z.uuid(), name: z.string(), isDefault: z.boolean() }).nullable(),
  live: z
    .object({
      deploymentId: z.uuid(),
      buildId: z.uuid(),
      commitSha: z.string(),
      packageVersion,
      commitMessage: z.string().nullable(),
      commitAuthor: z.string().nullable(),
      trigger: buildTriggerSchema,
      since: time,
      url: z.url(),
      tools: z.number().int().nullable(),
      isRolledBack: z.boolean().describe("somebody went back to it from a newer version"),
      rolledBackFrom: z
        .object({
          deploymentId: z.uuid(),
          buildId: z.uuid(),
          commitSha: z.string(),
          packageVersion,
          commitMessage: z.string().nullable(),
        })
        .nullable()
        .describe("the newest version that was live; null if it was removed since"),
      lost: z
        .object({ nextTryAt: time.nullable() })
        .nullable()
        .describe("set while its files are lost and it is built again; the time is null if that is now"),
    })
    .nullable(),
  latestBuild: latestBuild.extend({ packageVersion, problem: z.string().nullable() }).nullable(),
  instance: z
    .object({
      state: z.enum(["awake", "asleep", "starting", "stopped", "crashed"]),
      startedAt: time,
      endedAt: time.nullable(),
      endReason: z.string().nullable(),
      memoryBytes: z.number().nullable(),
    })
    .nullable(),
  deployments: listOf(
    z.object({
      id: z.uuid(),
      buildId: z.uuid(),
      commitSha: z.string(),
      packageVersion,
      branch: z.string(),
      createdAt: time,
    }),
  ),
});

const variable = named(
  "Variable",
  z.object({
    id: z.uuid(),
    keyName: z.string(),
    environments: z.array(z.enum(["production", "preview"])).readonly(),
    description: z.string().nullable(),
    sensitive: z.boolean().describe("its value can't be read again"),
    updatedAt: time,
  }),
);

const forkPullRequest = z.object({
  number: z.number().int(),
  url: z.string().nullable(),
  title: z.string(),
  author: z.string(),
  repository: z.string().nullable(),
  headBranch: z.string(),
  commitSha: z.string(),
  commitMessage: z.string().nullable(),
  commitAuthor: z.string().nullable(),
  state: z.enum(["waiting", "approved", "declined"]),
  waitingSince: time,
  decidedBy: z.string().nullable(),
  decidedAt: time.nullable(),
});

/** By the operation's id, or a name for answers of several operations. */
export const answers = {
  deleted: z.object({ id: z.uuid() }),
  caller: z.object({
    kind: z.enum(["operator", "organization", "personal"]),
    organization: z.object({ slug: z.string(), name: z.string() }).nullable(),
    serverUrl: z.string().describe("address of servers, with {name}"),
  }),
  deployTarget: z.object({
    organization: z.string(),
    repository: z.object({ name: z.string(), defaultBranch: z.string() }),
    project: z
      .object({ name: z.string(), pathName: z.string(), authMode: authModeSchema })
      .nullable()
      .describe("null: there is no server of this name yet"),
  }),
  repository,
  repositories: z.object({ data: listOf(repository) }),
  continuedRepository: z.object({ repository, servers: names.describe("that are built from GitHub now") }),
  archiveCommit,
  projects: z.object({ data: listOf(named("ListedServer", listed)) }),
  project,
  projectDetail: named("ServerDetail", detail),
  savedProject: z.object({ project, build: build.nullable() }),
  savedPackage: z.object({ project, build, created: z.boolean() }),
  startedBuild: z.object({ build, created: z.boolean() }),
  builds: z.object({
    data: listOf(buildSummary.extend({ manifest: manifest.nullable().optional() })),
    hasMore: z.boolean(),
  }),
  build: z.object({ build }),
  buildOutcome: z.object({ build, url: z.url().nullable(), diagnosis: diagnosisSchema.nullable(), warnings }),
  buildLog: z.object({ data: listOf(named("BuildLogLine", buildLogEntrySchema)) }),
  liveDeployment: deployment.extend({
    environment: z.enum(["production", "preview"]),
    buildId: z.uuid(),
    branch: z.object({ id: z.uuid(), name: z.string(), isDefault: z.boolean() }),
    project: z.object({ id: z.uuid(), name: z.string(), orgSlug: z.string() }),
  }),
  forkPullRequests: z.object({ data: listOf(forkPullRequest) }),
  decision: z.object({ buildId: z.uuid().nullable() }),
  status,
  manifest: z.object({ manifest: manifest.nullable() }),
  variables: z.object({ data: listOf(variable) }),
  variable,
};
