import type { Context } from "@towpath/core/context";
import {
  deleteProject,
  deployProject,
  listProjects,
  type ProjectDetailView,
  updateProject,
} from "@towpath/core/projects/project";
import {
  deployProjectSchema,
  entrypointSettingSchema,
  projectListSchema,
  projectNameSchema,
  updateProjectSchema,
} from "@towpath/core/projects/project/schema";
import { initialSecretsSchema } from "@towpath/core/projects/secret/schema";
import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { saveExisting } from "~/features/shared/answers/existing-project.server.ts";
import { type Operation, operation, organizationSlug } from "~/http/rest/operation.server.ts";

/** Of `PATCH`; a repository has no versions to follow. */
const settingsSchema = updateProjectSchema
  .omit({ name: true, followsPackage: true })
  .extend({ entrypoint: entrypointSettingSchema.optional() });

const saveProjectSchema = settingsSchema.extend({
  organization: z.string().min(1).nullish(),
  name: projectNameSchema,
  installationId: z.number().int().positive(),
  repositoryFullName: deployProjectSchema.shape.repositoryFullName,
  variables: initialSecretsSchema,
});

/**
 * Creates a project with its first build, using defaults for missing settings. On an existing project it changes only
 * the given settings and starts no build.
 */
async function saveProject(ctx: Context<"repositories" | "secrets">, input: z.output<typeof saveProjectSchema>) {
  const orgSlug = await organizationSlug(ctx, input.organization);
  const { name, installationId, repositoryFullName, variables } = input;
  const settings = settingsSchema.parse(input);
  const isSame = (of: ProjectDetailView) => of.githubRepository?.fullName === repositoryFullName;
  const existing = await saveExisting(ctx, { orgSlug, name, settings, variables, isSame });
  if (existing) return { project: existing.project, build: null };
  return deployProject({
    ctx,
    input: { ...settings, orgSlug, name, installationId, repositoryFullName, secrets: variables, trigger: "cli" },
  });
}

/** Deletes a project with everything that belongs to it (PRJ-11). Its name in the URL counts as the confirmation. */
function removeProject(ctx: Context, name: string, project: ProjectDetailView): Promise<{ readonly id: string }> {
  const { id, orgSlug, name: projectName } = project;
  // A former name resolves, too, but deleting by it may be a mistake.
  const isFormer = name.toLowerCase() !== projectName.toLowerCase() && name !== id;
  return deleteProject({ ctx, input: { orgSlug, projectName, confirmation: isFormer ? name : projectName } });
}

/** Servers and their settings. */
export const projectOperations: readonly Operation[] = [
  operation("GET /projects", "listProjects", "project.read", {
    summary: "servers of the key's organization by name; the operator names one by `?organization=`",
    query: projectListSchema.extend({ organization: z.string().min(1).optional() }),
    answer: answers.projects,
    handle: async ({ ctx, query: { organization, ...filter } }) => ({
      data: await listProjects({ ctx, input: { ...filter, orgSlug: await organizationSlug(ctx, organization) } }),
    }),
  }),
  operation("POST /projects", "saveProject", "project.create", {
    summary: "creates a server with its first build, or changes its settings",
    body: saveProjectSchema,
    answer: answers.savedProject,
    handle: ({ ctx, body }) => saveProject(ctx, body),
  }),
  operation("GET /projects/{name}", "readProject", "project.read", {
    summary: "a server with its settings",
    answer: answers.projectDetail,
    handle: async ({ project }) => project,
  }),
  operation("PATCH /projects/{name}", "updateProject", "project.update", {
    summary:
      "changes the settings that are given, such as `authMode` ([sign-in.md](sign-in.md)), `name` or `keepsData` (whether `/data` outlives the server; `data` in the answer of `GET` says how full it is); `{name}` may be a former one for 90 days, but not to delete",
    body: updateProjectSchema,
    answer: answers.project,
    handle: ({ ctx, project, body }) =>
      updateProject({ ctx, input: { ...body, orgSlug: project.orgSlug, projectName: project.name } }),
  }),
  operation("DELETE /projects/{name}", "deleteProject", "project.delete", {
    summary: "deletes it with everything that belongs to it",
    answer: answers.deleted,
    handle: ({ ctx, params, project }) => removeProject(ctx, params.name, project),
  }),
];
