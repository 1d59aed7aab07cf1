import { z } from "zod";
import type { Context } from "../../context/index.ts";
import type { BuildStatus } from "../../delivery/build/build-contract.schema.ts";
import { type DeploymentSummary, type InstanceState, instanceState } from "../../delivery/deployment/internal.ts";
import type { DataUsage } from "../../operations/data-volume/index.ts";
import { gitHubRepositoryView, type SourceSummary, sourceOf, sourceSummary } from "../../sources/source/internal.ts";
import { projectPathName } from "../reserved-names/index.ts";
import { mcpUrl } from "../server-url/index.ts";
import {
  type AuthMode,
  authModeSchema,
  type ProjectKind,
  projectKindOf,
  type SleepingLists,
  sleepingListsSchema,
} from "./project.schema.ts";
import type { ProjectRow, ProjectState, RolledBackTo } from "./project.store.ts";

const problemSchema = z.object({ code: z.string(), message: z.string() });

export type ProjectView = {
  readonly id: string;
  readonly orgSlug: string;
  readonly name: string;
  /** Path segment of the project in the dashboard: its name, or its id when a page has that name. */
  readonly pathName: string;
  readonly kind: ProjectKind;
  readonly description: string | null;
  readonly authMode: AuthMode;
  readonly isPublic: boolean;
  /** Whether request logs keep redacted payloads. */
  readonly capturePayloads: boolean;
  /** Whether the server gets a signed assertion of who calls (GW-11). */
  readonly identityAssertion: boolean;
  /** Whether lists are answered without waking a sleeping server (GW-12). */
  readonly sleepingLists: SleepingLists;
  /** Whether production's `/data` outlives its server (BLD-19). */
  readonly keepsData: boolean;
  /** Empty: each build finds it in its commit; also empty unless hosted. */
  readonly entrypoint: string;
  /** Of the program that the entrypoint starts. */
  readonly arguments: readonly string[];
  readonly requirements: string | null;
  /** Relative to the repository's root, which null means. */
  readonly rootDirectory: string | null;
  /** A push that changes none of them builds nothing (BLD-15); empty: every push builds. */
  readonly watchPaths: readonly string[];
  readonly failOnBreakingChanges: boolean;
  readonly defaultBranch: string;
  readonly githubRepository: {
    readonly id: number;
    readonly name: string;
    readonly fullName: string;
    readonly defaultBranch: string;
    readonly private: boolean;
    readonly installationId: number | null;
  } | null;
  /** Where its code comes from (SRC-1); null for a project that isn't built here. */
  readonly source: SourceSummary | null;
  /** Of a hosted one without a repository: the package that it runs. `follows`: newer versions are built by themselves. */
  readonly package: { readonly name: string; readonly follows: boolean } | null;
  /** Of an external server: where it is, and why its last inspection failed; null for all others. */
  readonly external: {
    readonly url: string;
    readonly problem: { readonly code: string; readonly message: string } | null;
    readonly checkedAt: string | null;
  } | null;
  /** MCP endpoint of production, whether or not something is live there. */
  readonly url: string;
  readonly isLive: boolean;
  /** Number of warnings of the build that is live in production. */
  readonly liveWarnings: number;
  /** The version in production, if it is live because somebody went back to it (PRJ-14). */
  readonly rolledBackTo: RolledBackTo | null;
  /** Of what is live in production; null when nothing is, or it was never started. */
  readonly instanceState: InstanceState | null;
  /** Whether the server that is live in production does its own sign-in; null when that isn't known. */
  readonly ownSignIn: boolean | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** One project with its newest deployments (at most 20) and the actor's role. */
export type ProjectDetailView = ProjectView & {
  readonly role: "owner" | "admin" | "member" | "viewer";
  /** Whether the role may call the server, by its access policy. */
  readonly mayCall: boolean;
  /** How full its `/data` is; null when it has none, or nothing was reported yet. */
  readonly data: DataUsage | null;
  readonly deployments: readonly DeploymentSummary[];
};

export type ProjectListItem = ProjectView & {
  /** Those that are live: production's, then previews'. */
  readonly deployments: readonly DeploymentSummary[];
  readonly latestBuild: {
    readonly id: string;
    readonly status: BuildStatus;
    readonly commitSha: string;
    readonly commitMessage: string | null;
    readonly createdAt: string;
    readonly warningCount: number;
  } | null;
  /** How many open pull requests from forks wait for the approval of their commit. */
  readonly waitingForkPullRequests: number;
  /** What is live in production: its build, and how many tools it offers (null when that isn't known). */
  readonly live: { readonly buildId: string; readonly tools: number | null } | null;
};

export type ProjectNameAvailability =
  | { readonly available: true; readonly reason: null; readonly message: null }
  | { readonly available: false; readonly reason: "invalid" | "reserved" | "taken"; readonly message: string };

/** The state of a project that was just created. */
export const nothingLive: ProjectState = { live: null, external: null, git: null };

/** What people set of a server. */
export const settingsOf = (row: ProjectRow) => ({
  description: row.description,
  // Treat an unknown mode, written by a later version, as the strictest.
  authMode: authModeSchema.catch("towpath-cloud").parse(row.authMode),
  isPublic: row.isPublic,
  capturePayloads: row.capturePayloads,
  identityAssertion: row.identityAssertion,
  // An unknown choice, written by a later version: gateways of this version don't follow it either.
  sleepingLists: sleepingListsSchema.catch("off").parse(row.sleepingLists),
  keepsData: row.keepsData,
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
