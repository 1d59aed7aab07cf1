import { startBuild } from "@towpath/core/build";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { createProject, type ProjectView, updateProject } from "@towpath/core/project";
import { authModeSchema, entrypointSchema, projectNameSchema, requirementsSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import { gitHub } from "~/features/github/github-access.server.ts";
import { withGitHub } from "~/features/github/github-errors.server.ts";
import { repositoryAddress, repositoryAndHead, toCommitInput } from "~/features/github/repository-head.server.ts";
import { isTowpathErrorCode } from "~/http/error-code.ts";
import { operatorOrganization, operatorProject } from "./operator-project.server.ts";

export const deployProjectSchema = z.object({
  organization: z.string().min(1).nullish(),
  name: projectNameSchema,
  installationId: z.number().int().positive(),
  repositoryFullName: z.string().min(3).max(255),
  entrypoint: entrypointSchema.default("server.py"),
  requirements: requirementsSchema,
  authMode: authModeSchema,
});

/** Creates a project, or gives the one of this name in the organization these settings; builds only a new one. */
export async function deployProject(ctx: Context, input: z.output<typeof deployProjectSchema>) {
  const orgSlug = await operatorOrganization(ctx, input.organization ?? undefined);
  const { name, installationId, entrypoint, requirements, authMode } = input;
  const address = repositoryAddress(installationId, input.repositoryFullName);
  const { repository, commit } = await repositoryAndHead(address);
  const settings = { orgSlug, installationId, repository, entrypoint, requirements, authMode };
  const existing = await find(ctx, name);
  if (!existing) return createProject({ ctx, input: { ...settings, name, commit, trigger: "cli" } });
  if (existing.orgSlug !== orgSlug) {
    const message = "This project name is already taken";
    throw new TowpathError("invalid_input", message, { fields: { name: message } });
  }
  return { project: await updateProject({ ctx, input: { ...settings, projectName: existing.name } }), build: null };
}

async function find(ctx: Context, name: string): Promise<ProjectView | null> {
  try {
    return await operatorProject(ctx, name);
  } catch (error) {
    if (isTowpathErrorCode(error, "not_found")) return null;
    throw error;
  }
}

export const startBuildBodySchema = z.object({
  /** Default: the newest commit of the default branch. */
  commitSha: z
    .string()
    .regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "A commit is named by its full id")
    .nullish(),
});

/** Builds a commit; the build that a webhook has made of it already is the answer then. */
export async function startProjectBuild(ctx: Context, name: string, input: z.output<typeof startBuildBodySchema>) {
  const project = await operatorProject(ctx, name);
  const { githubRepository: repository } = project;
  if (!repository?.installationId) throw new TowpathError("conflict", "This project has no repository to build from.");
  const address = repositoryAddress(repository.installationId, repository.fullName);
  const ref = input.commitSha ?? repository.defaultBranch;
  const commit = toCommitInput(await withGitHub(() => gitHub().commit(address, ref)));
  const { build } = await startBuild({
    ctx,
    input: { orgSlug: project.orgSlug, projectName: project.name, commit, trigger: "cli" },
  });
  return { build };
}
