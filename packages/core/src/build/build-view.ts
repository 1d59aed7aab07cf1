import { build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../context/index.ts";
import { deploymentSummary } from "../deployment/internal.ts";
import { notFound } from "../errors/index.ts";
import { repositoryView } from "../project/internal.ts";
import { authModeSchema } from "../project/project.schema.ts";
import { type BuildJoin, type BuildSummaryJoin, selectBuilds } from "./build.store.ts";
import type { BuildSummary, BuildView } from "./build.view.ts";
import { buildStatusSchema, buildTriggerSchema } from "./build-contract.schema.ts";
import { readDiagnosis, readLayers, readManifest, readTimings, readWarnings } from "./stored-build.ts";

export function buildSummary(ctx: Context, row: BuildSummaryJoin): BuildSummary {
  const { build: found, project } = row;
  const repository = repositoryView(project);
  return {
    id: found.id,
    status: buildStatusSchema.parse(found.status),
    trigger: buildTriggerSchema.catch("push").parse(found.trigger),
    commitSha: found.commitSha,
    commitMessage: found.commitMessage,
    commitAuthor: found.commitAuthor,
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
    branch: { id: row.branch.id, name: row.branch.name },
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
  return {
    ...buildSummary(ctx, row),
    manifest: readManifest(row.build.manifest),
    warnings: readWarnings(row.build.warnings),
    timings: readTimings(row.build.timings),
    entrypoint: row.build.entrypoint,
    requirements: row.build.requirements,
    pythonVersion: readLayers(row.build.layers)?.pythonVersion ?? null,
    attempt: row.build.attempt,
  };
}

/** The view of a build whose access the caller has checked. */
export async function findBuildView(ctx: Context, buildId: string): Promise<BuildView> {
  const [row] = await selectBuilds(ctx.db, eq(build.id, buildId));
  if (!row) throw notFound("build");
  return buildView(ctx, row);
}
