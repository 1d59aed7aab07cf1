import { build } from "@towpath/db/schema";
import { manifestSchema } from "@towpath/mcp/manifest";
import { eq } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { authModeSchema } from "../../projects/project/project.schema.ts";
import { gitHubRepositoryView } from "../../sources/source/internal.ts";
import { displayNameOf } from "../../tenancy/organization/index.ts";
import { deploymentSummary, deploymentSummarySchema } from "../deployment/internal.ts";
import { approvalStateSchema, releaseStateSchema } from "../gradual-release/gradual-release.schema.ts";
import { type BuildJoin, type BuildSummaryJoin, selectBuilds } from "./build.store.ts";
import {
  type BuildManifest,
  buildPhases,
  buildStatusSchema,
  buildTriggerSchema,
  buildWarningSchema,
  diagnosisSchema,
  packageVersionView,
} from "./build-contract.schema.ts";
import { readDiagnosis, readLayers, readManifest, readProgram, readTimings, readWarnings } from "./stored-build.ts";

/** The specification's Build without the manifest, which can be large and lists don't need. */
export const buildSummarySchema = z.object({
  id: z.uuid(),
  status: buildStatusSchema,
  trigger: buildTriggerSchema,
  commitSha: z.string(),
  packageVersion: packageVersionView,
  commitMessage: z.string().nullable(),
  commitAuthor: z.string().nullable(),
  /** Name of the person who asked for it; null for builds of pushes, and after the account was deleted. */
  startedBy: z.string().nullable(),
  /** For a promotion: the preview's build whose layers it has. */
  promotedFromBuildId: z.uuid().nullable(),
  prNumber: z.number().int().nullable(),
  prUrl: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  diagnosis: diagnosisSchema.nullable(),
  warningCount: z.number().int(),
  githubRepository: z
    .object({ id: z.number().int(), name: z.string(), defaultBranch: z.string(), fullName: z.string() })
    .nullable(),
  branch: z.object({
    id: z.uuid(),
    name: z.string(),
    isEnded: z.boolean().describe("deleted, or its pull request closed: it has no preview any more"),
  }),
  deployment: deploymentSummarySchema.nullable(),
  approval: approvalStateSchema.nullable().describe("of a deployment to production; null: it needs none"),
  release: z
    .object({ state: releaseStateSchema, share: z.number().int(), reason: z.string().nullable() })
    .nullable()
    .describe("its last gradual release; null: it had none"),
  project: z.object({
    id: z.uuid(),
    name: z.string(),
    orgSlug: z.string(),
    authMode: authModeSchema,
    defaultBranch: z.string(),
    isPublic: z.boolean(),
  }),
});
export type BuildSummary = z.infer<typeof buildSummarySchema>;

export const buildViewSchema = buildSummarySchema.extend({
  /** Null before the inspection, and when the server's lists could not be read (see `warnings`). */
  manifest: manifestSchema.nullable(),
  /** Problems that didn't fail the build. */
  warnings: z.array(buildWarningSchema).readonly(),
  timings: z.partialRecord(z.enum(buildPhases), z.number()).describe("milliseconds by phase").readonly(),
  entrypoint: z.string().describe("what it starts; empty until it was found"),
  arguments: z.array(z.string()).readonly(),
  findsEntrypoint: z.boolean().describe("the settings name no entrypoint, so the build finds it"),
  requirements: z.string().nullable(),
  pythonVersion: z.string().nullable(),
  attempt: z.number().int(),
});
export type BuildView = z.infer<typeof buildViewSchema>;

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
    approval: approvalStateSchema.nullable().catch(null).parse(row.approval),
    release: row.release && { ...row.release, state: releaseStateSchema.catch("stopped").parse(row.release.state) },
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
