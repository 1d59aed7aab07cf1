import { z } from "zod";
import { type Context, roles } from "../../context/index.ts";
import { buildStatusSchema, packageVersionView } from "../../delivery/build/build-contract.schema.ts";
import { deploymentSummarySchema, instanceState, instanceStateSchema } from "../../delivery/deployment/internal.ts";
import { dataUsageSchema } from "../../operations/data-volume/index.ts";
import { gitHubRepositoryView, sourceOf, sourceSummary, sourceSummarySchema } from "../../sources/source/internal.ts";
import { projectPathName } from "../reserved-names/index.ts";
import { iconUrl } from "../server-icon/internal.ts";
import { mcpUrl } from "../server-url/index.ts";
import { checkQuestionsOf, checkQuestionsSchema } from "./check-questions.schema.ts";
import {
  authModeSchema,
  type CallerProbe,
  callerProbeSchema,
  projectKindOf,
  projectKinds,
  sleepingListsSchema,
} from "./project.schema.ts";
import type { ProjectRow, ProjectState } from "./project.store.ts";
import { replaySettingOf, replaySettingSchema } from "./replay.schema.ts";

const problemSchema = z.object({ code: z.string(), message: z.string() });

export const projectViewSchema = z.object({
  id: z.uuid(),
  orgSlug: z.string(),
  name: z.string(),
  /** Its name, or its id when a page has that name. */
  pathName: z.string().describe("in addresses of the dashboard"),
  kind: z.enum(projectKinds),
  description: z.string().nullable(),
  authMode: authModeSchema,
  isPublic: z.boolean(),
  /** Whether request logs keep redacted payloads. */
  capturePayloads: z.boolean(),
  errorsPerHour: z.number().int().nullable().describe("failures of one error in an hour that are reported; null: none"),
  /** Whether the server gets a signed assertion of who calls (GW-11). */
  identityAssertion: z.boolean(),
  /** Whether lists are answered without waking a sleeping server (GW-12). */
  sleepingLists: sleepingListsSchema,
  /** Whether production's `/data` outlives its server (BLD-19). */
  keepsData: z.boolean(),
  /** How many callers with values of their own may be served at a time (CAP-1). */
  callerInstances: z.number().int(),
  callerProbe: callerProbeSchema
    .nullable()
    .describe("the tool call by which a person's own values are checked; null: none"),
  keepResultsMinutes: z
    .number()
    .int()
    .describe("for so long a client that asks again gets the result of its call; 0: never"),
  unattendedMinutes: z.number().int().describe("how long a call may run after its client has left"),
  replay: replaySettingSchema
    .nullable()
    .describe("how calls of production are sampled and replayed on previews; null: none is"),
  checkQuestions: checkQuestionsSchema.describe("what a model is asked with production's and a preview's tools"),
  /** Also empty unless hosted. */
  entrypoint: z.string().describe("empty: each build finds it"),
  /** Of the program that the entrypoint starts. */
  arguments: z.array(z.string()).readonly(),
  requirements: z.string().nullable(),
  /** Relative to the repository's root, which null means. */
  rootDirectory: z.string().nullable(),
  /** A push that changes none of them builds nothing (BLD-15); empty: every push builds. */
  watchPaths: z.array(z.string()).readonly(),
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
  /** Null for a project that isn't built here (SRC-1). */
  source: sourceSummarySchema.nullable().describe("where its code comes from"),
  /** Of a hosted one without a repository: the package that it runs. `follows`: newer versions are built by themselves. */
  package: z.object({ name: z.string(), follows: z.boolean() }).nullable(),
  /** Of an external server: where it is, and why its last inspection failed; null for all others. */
  external: z
    .object({ url: z.string(), problem: problemSchema.nullable(), checkedAt: z.iso.datetime().nullable() })
    .nullable(),
  iconUrl: z.string().nullable().describe("path of the picture that its server names for itself, on this site"),
  url: z.url().describe("of production, whether or not something is live there"),
  isLive: z.boolean(),
  /** Number of warnings of the build that is live in production. */
  liveWarnings: z.number().int(),
  rolledBackTo: z
    .object({ commitSha: z.string(), packageVersion: packageVersionView })
    .nullable()
    .describe("the version in production, if somebody went back to it"),
  /** Of what is live in production; null when nothing is, or it was never started. */
  instanceState: instanceStateSchema.nullable(),
  /** Whether the server that is live in production does its own sign-in; null when that isn't known. */
  ownSignIn: z.boolean().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type ProjectView = z.infer<typeof projectViewSchema>;

/** One project with its newest deployments (at most 20) and the actor's role. */
export const projectDetailSchema = projectViewSchema.extend({
  role: z.enum(roles),
  /** Whether the role may call the server, by its access policy. */
  mayCall: z.boolean(),
  /** How full its `/data` is; null when it has none, or nothing was reported yet. */
  data: dataUsageSchema.nullable(),
  deployments: z.array(deploymentSummarySchema).readonly(),
});
export type ProjectDetailView = z.infer<typeof projectDetailSchema>;

export const projectListItemSchema = projectViewSchema.extend({
  /** Those that are live: production's, then previews'. */
  deployments: z.array(deploymentSummarySchema).readonly(),
  latestBuild: z
    .object({
      id: z.uuid(),
      status: buildStatusSchema,
      commitSha: z.string(),
      commitMessage: z.string().nullable(),
      createdAt: z.iso.datetime(),
      warningCount: z.number().int(),
    })
    .nullable(),
  waitingForkPullRequests: z.number().int().describe("from forks, open: their newest commit waits for approval"),
  /** What is live in production: its build, and how many tools it offers (null when that isn't known). */
  live: z.object({ buildId: z.uuid(), tools: z.number().int().nullable() }).nullable(),
});
export type ProjectListItem = z.infer<typeof projectListItemSchema>;

export type ProjectNameAvailability =
  | { readonly available: true; readonly reason: null; readonly message: null }
  | { readonly available: false; readonly reason: "invalid" | "reserved" | "taken"; readonly message: string };

/** The state of a project that was just created. */
export const nothingLive: ProjectState = { live: null, external: null, git: null };

/** By which a person's own values are checked; null: by none, or by what only a later version can do. */
export const callerProbeOf = ({ callerProbe }: Pick<ProjectRow, "callerProbe">): CallerProbe | null =>
  callerProbeSchema.nullable().catch(null).parse(callerProbe);

/** What people set of a server. */
export const settingsOf = (row: ProjectRow) => ({
  description: row.description,
  // Treat an unknown mode, written by a later version, as the strictest.
  authMode: authModeSchema.catch("towpath-cloud").parse(row.authMode),
  isPublic: row.isPublic,
  capturePayloads: row.capturePayloads,
  errorsPerHour: row.errorsPerHour,
  identityAssertion: row.identityAssertion,
  // An unknown choice, written by a later version: gateways of this version don't follow it either.
  sleepingLists: sleepingListsSchema.catch("off").parse(row.sleepingLists),
  keepsData: row.keepsData,
  callerInstances: row.callerInstances,
  callerProbe: callerProbeOf(row),
  keepResultsMinutes: row.keepResultsMinutes,
  unattendedMinutes: row.unattendedMinutes,
  replay: replaySettingOf(row),
  checkQuestions: checkQuestionsOf(row),
  entrypoint: row.entrypoint,
  arguments: row.arguments,
  requirements: row.requirements,
  rootDirectory: row.rootDirectory,
  watchPaths: row.watchPaths,
  failOnBreakingChanges: row.failOnBreakingChanges,
});

/** The public shape of a project's row, with what is live of it. */
export function projectView(
  ctx: Context,
  row: ProjectRow,
  more: ProjectState & { readonly orgSlug: string },
): ProjectView {
  const source = sourceOf(row);
  return {
    id: row.id,
    orgSlug: more.orgSlug,
    name: row.name,
    pathName: projectPathName(row),
    kind: projectKindOf(row),
    ...settingsOf(row),
    defaultBranch: row.defaultBranch,
    githubRepository: gitHubRepositoryView(row),
    source: sourceSummary(ctx, row, more),
    package: source?.kind === "package" ? { name: source.name, follows: source.follows } : null,
    external: more.external && {
      url: more.external.url,
      problem: problemSchema.safeParse(more.external.problem).data ?? null,
      checkedAt: more.external.checkedAt?.toISOString() ?? null,
    },
    iconUrl: iconUrl(more.live?.iconHash ?? more.external?.iconHash),
    url: mcpUrl(ctx.serverUrlTemplate, row.name.toLowerCase()),
    // Others than hosted ones are served from when they are created.
    isLive: more.live !== null || row.kind !== "hosted",
    liveWarnings: more.live?.warnings ?? 0,
    rolledBackTo: more.live?.rolledBackTo ?? null,
    instanceState: more.live?.instance ? instanceState(more.live.instance) : null,
    ownSignIn: more.live?.ownSignIn ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
