import type { Context } from "../context/index.ts";
import { projectPathName } from "../reserved-names/index.ts";
import { mcpUrl } from "../server-url/index.ts";
import { authModeSchema } from "./project.schema.ts";
import type { ProjectRow } from "./project.store.ts";
import type { ProjectView } from "./project.view.ts";

/** The public shape of a project's row. `liveWarnings` is null when nothing is live in production. */
export function projectView(
  ctx: Context,
  row: ProjectRow,
  more: { orgSlug: string; liveWarnings: number | null },
): ProjectView {
  return {
    id: row.id,
    orgSlug: more.orgSlug,
    name: row.name,
    pathName: projectPathName(row),
    kind: row.kind === "external" ? "external" : "hosted",
    description: row.description,
    // A mode of a later version must not read as an open one.
    authMode: authModeSchema.catch("towpath-cloud").parse(row.authMode),
    isPublic: row.isPublic,
    capturePayloads: row.capturePayloads,
    entrypoint: row.entrypoint,
    requirements: row.requirements,
    defaultBranch: row.defaultBranch,
    githubRepository: repositoryView(row),
    url: mcpUrl(ctx.serverUrlTemplate, row.name.toLowerCase()),
    isLive: more.liveWarnings !== null,
    liveWarnings: more.liveWarnings ?? 0,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Null for a project without a repository. */
export function repositoryView(
  row: Pick<
    ProjectRow,
    "repositoryId" | "repositoryFullName" | "repositoryPrivate" | "defaultBranch" | "installationId"
  >,
) {
  if (row.repositoryId === null || row.repositoryFullName === null) return null;
  return {
    id: row.repositoryId,
    name: row.repositoryFullName.split("/").at(-1) ?? row.repositoryFullName,
    fullName: row.repositoryFullName,
    defaultBranch: row.defaultBranch,
    private: row.repositoryPrivate,
    installationId: row.installationId,
  };
}
