import { build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { type AuthMode, authModeSchema } from "../../projects/project/project.schema.ts";
import { gitHubRepositoryView } from "../../sources/source/internal.ts";
import { displayNameOf } from "../../tenancy/organization/index.ts";
import { type DeploymentSummary, deploymentSummary } from "../deployment/internal.ts";
import { type BuildJoin, type BuildSummaryJoin, selectBuilds } from "./build.store.ts";
import {
  type BuildManifest,
  type BuildStatus,
  type BuildTimings,
  type BuildTrigger,
  type BuildWarning,
  buildStatusSchema,
  buildTriggerSchema,
  type Diagnosis,
} from "./build-contract.schema.ts";
import { readDiagnosis, readLayers, readManifest, readProgram, readTimings, readWarnings } from "./stored-build.ts";

/** The specification's Build without the manifest, which can be large and lists don't need. */
export type BuildSummary = {
  readonly id: string;
  readonly status: BuildStatus;
  readonly trigger: BuildTrigger;
  readonly commitSha: string;
  /** Of a package; null for a commit. */
  readonly packageVersion: string | null;
  readonly commitMessage: string | null;
  readonly commitAuthor: string | null;
  /** Name of the person who asked for it; null for builds of pushes, and after the account was deleted. */
  readonly startedBy: string | null;
  /** For a promotion: the preview's build whose layers it has. */
  readonly promotedFromBuildId: string | null;
  readonly prNumber: number | null;
  readonly prUrl: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly diagnosis: Diagnosis | null;
  /** How many warnings the build has. */
  readonly warningCount: number;
  readonly githubRepository: {
    readonly id: number;
    readonly name: string;
    readonly defaultBranch: string;
    readonly fullName: string;
  } | null;
  /** `isEnded`: it was deleted, or its pull request closed, so it has no preview any more. */
  readonly branch: { readonly id: string; readonly name: string; readonly isEnded: boolean };
  readonly deployment: DeploymentSummary | null;
  readonly project: {
    readonly id: string;
    readonly name: string;
    readonly orgSlug: string;
    readonly authMode: AuthMode;
    readonly defaultBranch: string;
    readonly isPublic: boolean;
  };
};

export type BuildView = BuildSummary & {
  /** Null before the inspection, and when the server's lists could not be read (see `warnings`). */
  readonly manifest: BuildManifest;
  /** Problems that didn't fail the build. */
  readonly warnings: readonly BuildWarning[];
  readonly timings: BuildTimings;
  /** What it starts: as set, or as found; empty until it was found. */
  readonly entrypoint: string;
  readonly arguments: readonly string[];
  /** The project's settings name no entrypoint: this build finds it in its commit. */
  readonly findsEntrypoint: boolean;
  readonly requirements: string | null;
  readonly pythonVersion: string | null;
  readonly attempt: number;
};

export type BuildPage = {
  /** With `manifest` where it was asked for. */
  readonly data: readonly (BuildSummary & { readonly manifest?: BuildManifest })[];
  readonly hasMore: boolean;
};

export function buildSummary(ctx: Context, row: BuildSummaryJoin): BuildSummary {
  const { build: found, project } = row;
  const repository = gitHubRepositoryView(project);
  return {
    id: found.id,
    status: buildStatusSchema.parse(found.status),
    trigger: buildTriggerSchema.catch("push").parse(found.trigger),
    commitSha: found.commitSha,
    packageVersion: found.packageVersion,
    commitMessage: found.commitMessage,
    commitAuthor: found.commitAuthor,
    startedBy: row.startedBy && displayNameOf(row.startedBy),
    promotedFromBuildId: found.promotedFromBuildId,
    prNumber: found.pullRequestNumber,
    prUrl: found.pullRequestUrl,
    createdAt: found.createdAt.toISOString(),
    updatedAt: found.updatedAt.toISOString(),
    startedAt: found.startedAt?.toISOString() ?? null,
    endedAt: found.endedAt?.toISOString() ?? null,
    diagnosis: readDiagnosis(found.diagnosis),
    warningCount: row.warningCount,
    githubRepository: repository && {
      id: repository.id,
      name: repository.name,
      defaultBranch: repository.defaultBranch,
      fullName: repository.fullName,
    },
    branch: { id: row.branch.id, name: row.branch.name, isEnded: row.branch.endedAt !== null },
    deployment: row.deployment && deploymentSummary(ctx, row.deployment, row.isLive),
    project: {
      id: project.id,
      name: project.name,
      orgSlug: row.orgSlug,
      authMode: authModeSchema.catch("towpath-cloud").parse(project.authMode),
      defaultBranch: project.defaultBranch,
      isPublic: project.isPublic,
    },
  };
}

export function buildView(ctx: Context, row: BuildJoin): BuildView {
  const summary = buildSummary(ctx, row);
  return {
    ...summary,
    manifest: readManifest(row.build.manifest),
    warnings: readWarnings(row.build, summary.project.authMode),
    timings: readTimings(row.build.timings),
    ...(readProgram(row.build.program) ?? { entrypoint: row.build.entrypoint, arguments: row.build.arguments }),
    findsEntrypoint: row.build.entrypoint === "",
    requirements: row.build.requirements,
    pythonVersion: readLayers(row.build.layers)?.pythonVersion ?? null,
    attempt: row.build.attempt,
  };
}

/** The view of a build. The caller must have checked access. */
export async function findBuildView(ctx: Context, buildId: string): Promise<BuildView> {
  const [row] = await selectBuilds(ctx.db, eq(build.id, buildId));
  if (!row) throw notFound("build");
  return buildView(ctx, row);
}
