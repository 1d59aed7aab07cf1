import { type AccessView, getAccess, saveAccess } from "@towpath/core/access";
import type { accessSchema } from "@towpath/core/access/schema";
import { startBuild, startBuildSchema } from "@towpath/core/build";
import { type CallLimitView, getCallLimits, saveCallLimits } from "@towpath/core/call-limit";
import type { callLimitSchema } from "@towpath/core/call-limit/schema";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import {
  deleteProject,
  deployProject,
  findProjectOfInstance,
  type ProjectDetailView,
  type ProjectView,
  unavailableName,
  updateProject,
} from "@towpath/core/project";
import {
  argumentsSchema,
  authModeSchema,
  deployProjectSchema,
  entrypointSettingSchema,
  projectNameSchema,
  requirementsSchema,
  rootDirectorySchema,
  sleepingListsSchema,
  updateProjectSchema,
} from "@towpath/core/project/schema";
import { queryRequestLogs } from "@towpath/logs";
import { z } from "zod";
import { explainRequest } from "../explain-request.server.ts";
import { logParametersSchema, readLogParameters } from "../log-query.server.ts";
import { readRequestLogs } from "../log-reader.server.ts";
import { operatorOrganization, operatorProject } from "./operator-route.server.ts";

const settingsSchema = z.object({
  entrypoint: entrypointSettingSchema.optional(),
  arguments: argumentsSchema.optional(),
  requirements: requirementsSchema.optional(),
  rootDirectory: rootDirectorySchema.optional(),
  authMode: authModeSchema.optional(),
  capturePayloads: z.boolean().optional(),
  identityAssertion: z.boolean().optional(),
  sleepingLists: sleepingListsSchema.optional(),
  keepsData: z.boolean().optional(),
});

export const saveProjectSchema = settingsSchema.extend({
  organization: z.string().min(1).nullish(),
  name: projectNameSchema,
  installationId: z.number().int().positive(),
  repositoryFullName: deployProjectSchema.shape.repositoryFullName,
});

/**
 * Creates a project with its first build, using defaults for missing settings. On an existing project it changes only
 * the given settings and starts no build.
 */
export async function saveProject(ctx: Context, input: z.output<typeof saveProjectSchema>) {
  const orgSlug = await operatorOrganization(ctx, input.organization ?? undefined);
  const { name, installationId } = input;
  const settings = settingsSchema.parse(input);
  const existing = await findProjectOfInstance({ ctx, input: { name } });
  if (existing) {
    if (existing.orgSlug !== orgSlug) throw unavailableName("taken");
    if (existing.githubRepository?.fullName !== input.repositoryFullName) throw otherRepository(existing);
    return {
      project: await updateProject({ ctx, input: { ...settings, orgSlug, projectName: existing.name } }),
      build: null,
    };
  }
  const { repositoryFullName } = input;
  return deployProject({
    ctx,
    input: { ...settings, orgSlug, name, installationId, repositoryFullName, trigger: "cli" },
  });
}

/** A project with its settings (PRJ-16). */
export const readProject = (ctx: Context, name: string): Promise<ProjectDetailView> => operatorProject(ctx, name);

export const changeProjectSchema = updateProjectSchema;

/** Changes a project's settings, its auth mode among them; absent ones stay as they are (PRJ-11, PRJ-12). */
export async function changeProject(
  ctx: Context,
  name: string,
  input: z.output<typeof changeProjectSchema>,
): Promise<ProjectView> {
  const { orgSlug, name: projectName } = await operatorProject(ctx, name);
  return updateProject({ ctx, input: { ...input, orgSlug, projectName } });
}

/** Deletes a project with everything that belongs to it (PRJ-11). Its name in the URL counts as the confirmation. */
export async function removeProject(ctx: Context, name: string): Promise<{ readonly id: string }> {
  const { id, orgSlug, name: projectName } = await operatorProject(ctx, name);
  // A former name leads here too, and whoever deletes by it may mean something else.
  const isFormer = name.toLowerCase() !== projectName.toLowerCase() && name !== id;
  return deleteProject({ ctx, input: { orgSlug, projectName, confirmation: isFormer ? name : projectName } });
}

function otherRepository({ name, githubRepository }: ProjectDetailView): TowpathError {
  const connected = githubRepository ? `the repository ${githubRepository.fullName}` : "no repository";
  return new TowpathError("conflict", `${name} deploys from ${connected}. Choose another name.`);
}

export const startBuildBodySchema = startBuildSchema.pick({ commitSha: true, reuse: true });

/** Builds a commit, or returns an existing build of it if `reuse` allows (see `startBuild`). */
export async function startProjectBuild(ctx: Context, name: string, input: z.output<typeof startBuildBodySchema>) {
  const { orgSlug, name: projectName } = await operatorProject(ctx, name);
  return startBuild({ ctx, input: { ...input, orgSlug, projectName, trigger: "cli" } });
}

/** Who may call a server, and which of its tools (GW-15). */
export async function projectAccessPolicy(ctx: Context, name: string): Promise<AccessView> {
  const { id } = await operatorProject(ctx, name);
  return getAccess({ ctx, input: { projectId: id } });
}

/** Replaces it. */
export async function setProjectAccessPolicy(
  ctx: Context,
  name: string,
  input: z.output<typeof accessSchema>,
): Promise<AccessView> {
  const { id } = await operatorProject(ctx, name);
  return saveAccess({ ctx, input: { ...input, projectId: id } });
}

/** How many calls a server takes (GW-8). */
export async function projectCallLimits(ctx: Context, name: string): Promise<CallLimitView> {
  const { id } = await operatorProject(ctx, name);
  return getCallLimits({ ctx, input: { projectId: id } });
}

/** Replaces its own limits. */
export async function setProjectCallLimits(
  ctx: Context,
  name: string,
  input: z.output<typeof callLimitSchema>,
): Promise<CallLimitView> {
  const { id } = await operatorProject(ctx, name);
  return saveCallLimits({ ctx, input: { ...input, projectId: id } });
}

/** The newest request-log rows of a project, with the parameters of VAL-5 or a `query` in text. */
export async function projectLogs(ctx: Context, name: string, search: URLSearchParams) {
  const parameters = parseInput(logParametersSchema, Object.fromEntries(search));
  const project = await operatorProject(ctx, name);
  const key = { orgSlug: project.orgSlug, projectName: project.name };
  const query = { ...(await readLogParameters(ctx, key, parameters)), projectId: project.id };
  return readRequestLogs((pool) => queryRequestLogs(pool, query));
}

const logEntrySchema = z.object({ id: z.uuid(), time: z.coerce.date().optional() });

/** One row with its payloads and the lines that its server printed meanwhile. The id is enough; `time` may be given. */
export async function projectLogEntry(
  ctx: Context,
  { name, id }: { readonly name: string; readonly id: string },
  search: URLSearchParams,
) {
  const row = parseInput(logEntrySchema, { ...Object.fromEntries(search), id });
  const project = await operatorProject(ctx, name);
  return readRequestLogs((pool) => explainRequest(pool, { ...row, projectId: project.id }));
}
