import { startBuild, startBuildSchema } from "@towpath/core/build";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { createProject, type ProjectDetailView, updateProject } from "@towpath/core/project";
import { authModeSchema, entrypointSchema, projectNameSchema, requirementsSchema } from "@towpath/core/project/schema";
import { queryRequestLogs } from "@towpath/logs";
import { logQuerySchema } from "@towpath/logs/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { gitHub, repositoryAddress, repositoryAndHead, toCommitInput, withGitHub } from "~/github.server.ts";
import { findOperatorProject, nameTaken, operatorOrganization, operatorProject } from "./operator-route.server.ts";

const settingsSchema = z.object({
  entrypoint: entrypointSchema.optional(),
  requirements: requirementsSchema.optional(),
  authMode: authModeSchema.optional(),
  capturePayloads: z.boolean().optional(),
});

export const deployProjectSchema = settingsSchema.extend({
  organization: z.string().min(1).nullish(),
  name: projectNameSchema,
  installationId: z.number().int().positive(),
  repositoryFullName: z.string().min(3).max(255),
});

/**
 * Creates a project with its first build; absent settings get their defaults. On an existing project it changes only
 * the settings that are given, and builds nothing.
 */
export async function deployProject(ctx: Context, input: z.output<typeof deployProjectSchema>) {
  const orgSlug = await operatorOrganization(ctx, input.organization ?? undefined);
  const { name, installationId } = input;
  const settings = settingsSchema.parse(input);
  const existing = await findOperatorProject(ctx, name);
  if (existing) {
    if (existing.orgSlug !== orgSlug) throw nameTaken();
    if (existing.githubRepository?.fullName !== input.repositoryFullName) throw otherRepository(existing);
    return {
      project: await updateProject({ ctx, input: { ...settings, orgSlug, projectName: existing.name } }),
      build: null,
    };
  }
  const { repository, commit } = await repositoryAndHead(repositoryAddress(installationId, input.repositoryFullName));
  const { entrypoint = "server.py" } = settings;
  const created = {
    ...settings,
    entrypoint,
    orgSlug,
    name,
    installationId,
    repository,
    commit,
    trigger: "cli",
  } as const;
  return createProject({ ctx, input: created });
}

function otherRepository({ name, githubRepository }: ProjectDetailView): TowpathError {
  const connected = githubRepository ? `the repository ${githubRepository.fullName}` : "no repository";
  return new TowpathError("conflict", `${name} deploys from ${connected}. Choose another name.`);
}

export const startBuildBodySchema = z.object({
  /** Default: the newest commit of the default branch. */
  commitSha: z
    .string()
    .regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "A commit is named by its full id")
    .nullish(),
  reuse: startBuildSchema.shape.reuse,
});

/** Builds a commit, or returns its existing build when `reuse` allows that (`startBuild`). */
export async function startProjectBuild(ctx: Context, name: string, input: z.output<typeof startBuildBodySchema>) {
  const project = await operatorProject(ctx, name);
  const { githubRepository: repository } = project;
  if (!repository?.installationId) throw new TowpathError("conflict", "This project has no repository to build from.");
  const address = repositoryAddress(repository.installationId, repository.fullName);
  const ref = input.commitSha ?? repository.defaultBranch;
  const commit = toCommitInput(await withGitHub(() => gitHub().commit(address, ref)));
  const { orgSlug, name: projectName } = project;
  const { reuse } = input;
  const { build, created } = await startBuild({ ctx, input: { orgSlug, projectName, commit, trigger: "cli", reuse } });
  return { build, created };
}

/** The query string as VAL-5 has it; lists are repeated or separated by commas. */
const searchSchema = logQuerySchema.omit({ projectId: true }).extend({
  isError: z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .optional(),
  deploymentIds: z
    .string()
    .transform((value) => value.split(","))
    .pipe(z.array(z.uuid()).max(200))
    .optional(),
});

/** The newest request-log rows of a project. */
export async function projectLogs(ctx: Context, name: string, search: URLSearchParams) {
  const query = parseInput(searchSchema, Object.fromEntries(search));
  const project = await operatorProject(ctx, name);
  return queryRequestLogs(services().database.pool, { ...query, projectId: project.id });
}
