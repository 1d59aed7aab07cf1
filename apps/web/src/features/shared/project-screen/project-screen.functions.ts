import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { permissionsOf } from "@towpath/core/authorize";
import { mayHaveFirstSteps } from "@towpath/core/projects/first-steps";
import { getProject as readProject } from "@towpath/core/projects/project";
import { atHost } from "@towpath/core/sources/github-connection/numbers";
import { gitHub, services } from "~/compose.server.ts";
import { accessMeta } from "~/features/shared/session/lost-access.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { type ProjectKey, projectKeySchema } from "./project-key.schema.ts";

/** The project with its auth mode and newest deployments; also the access check of its screens (PRJ-1). */
const getProjectWithAuth = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(async ({ context, data }) => {
    const project = await readProject({ ctx: context.ctx, input: data });
    return {
      ...project,
      /** Whether its page may list first steps (SRC-4). */
      hasFirstSteps: mayHaveFirstSteps(context.ctx, context.project),
      repositoryUrl: await repositoryUrl(project.githubRepository),
      /** Of the dashboard and public pages. */
      siteUrl: services().config.baseUrl,
      /** The model that is asked the saved questions of a check (CAP-4); null: none is configured. */
      questionModel: services().config.chat.models[0]?.name ?? null,
    };
  });

/** The repository's page at GitHub; null without a repository there, or without its connection. */
async function repositoryUrl(of: { readonly id: number; readonly fullName: string } | null): Promise<string | null> {
  const found = of && (await gitHub().find(atHost(of.id).connection));
  return found ? `${found.github.config.url}/${of.fullName}` : null;
}

/** The same without how it authenticates callers (PRJ-16). @public */
export const getProject = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(async ({ context, data }) => {
    const { authMode: _mode, ownSignIn: _own, ...project } = await readProject({ ctx: context.ctx, input: data });
    return project;
  });

/** Whether the user may open the project, with their role and its permissions (PRJ-1). @public */
export const checkProjectAccess = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context }) => ({
    projectId: context.project.id,
    role: context.role,
    permissions: permissionsOf(context.role),
  }));

const minute = 60_000;

/** Project queries: fresh 2 minutes, kept 5 (AUTH-9). */
export const projectCache = { staleTime: 2 * minute, gcTime: 5 * minute };

/** Prefix of the keys of all queries about a project: invalidating it refreshes all its screens. */
export const projectQueryKey = (key: ProjectKey) => ["project", key.orgSlug, key.projectName] as const;

/** A query that needs only the project, under `names` below its key. `read`: its server function. */
export const projectQueryOf =
  <Data>(
    names: readonly string[],
    read: (call: { readonly data: ProjectKey; readonly signal: AbortSignal }) => Promise<Data>,
    options: { readonly staleTime?: number; readonly refetchInterval?: number } = {},
  ) =>
  (key: ProjectKey) =>
    queryOptions({
      queryKey: [...projectQueryKey(key), ...names],
      queryFn: ({ signal }) => read({ data: key, signal }),
      ...projectCache,
      ...options,
    });

export const projectQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "detail"],
    queryFn: ({ signal }) => getProjectWithAuth({ data: key, signal }),
    ...projectCache,
    ...accessMeta,
  });
