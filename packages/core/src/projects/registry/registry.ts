import type { Context } from "../../context/index.ts";
import { readManifest } from "../../delivery/build/internal.ts";
import { authModeSchema } from "../project/project.schema.ts";
import { iconUrl } from "../server-icon/internal.ts";
import { mcpUrl } from "../server-url/index.ts";
import { findPublicProject, listPublicNames, listVersions, type VersionFilter } from "./registry.store.ts";
import { describe, favicon, type RegistryEntry, type RegistryVersion, themeColor } from "./registry.view.ts";

/** These verbs act for nobody, so they take no actor: they see public projects only. */
type PublicContext = Pick<Context, "db" | "serverUrlTemplate">;

/**
 * The registry data of a public project (PUB-10); null for a name that is private, unknown or no name at all.
 *
 * @param call.input.baseUrl origin of the site
 */
export async function getRegistryEntry(call: {
  ctx: PublicContext;
  input: { readonly projectName: string; readonly baseUrl: string };
}): Promise<RegistryEntry | null> {
  const { ctx, input } = call;
  const row = await findPublicProject(ctx.db, input.projectName);
  if (!row) return null;
  const { project } = row;
  const manifest = readManifest(row.manifest);
  return {
    projectName: project.name,
    title: manifest?.server.title ?? project.name,
    description: describe(project.description, manifest),
    meta: {
      themeColor: themeColor(project.name),
      canonicalUrl: `${input.baseUrl}/app/${project.name.toLowerCase()}`,
      favicon: iconUrl(row.iconHash) ?? favicon(project.name),
    },
    url: mcpUrl(ctx.serverUrlTemplate, project.name.toLowerCase()),
    authMode: authModeSchema.catch("towpath-cloud").parse(project.authMode),
    repository: project.repositoryPrivate ? null : project.repositoryFullName,
    manifest,
    liveAt: row.at?.toISOString() ?? null,
  };
}

/** The public projects that are live, for a sitemap: at most `limit`, in the order of their names. */
export async function listRegistryNames(call: { ctx: PublicContext; input: { readonly limit: number } }) {
  const rows = await listPublicNames(call.ctx.db, call.input.limit);
  return rows.map(({ name, updatedAt }) => ({ name: name.toLowerCase(), updatedAt: updatedAt.toISOString() }));
}

/** Versions of public servers (PUB-14) by name, newest first. */
export async function listRegistryVersions(call: {
  ctx: PublicContext;
  input: VersionFilter;
}): Promise<readonly RegistryVersion[]> {
  const { ctx, input } = call;
  const rows = await listVersions(ctx.db, input);
  return rows.map(({ project, manifest: stored, sequence, isLatest, publishedAt, updatedAt }) => {
    const manifest = readManifest(stored);
    const { repositoryFullName: fullName, repositoryId: id, repositoryPrivate } = project;
    return {
      projectName: project.name,
      title: manifest?.server.title ?? project.name,
      description: describe(project.description, manifest),
      url: mcpUrl(ctx.serverUrlTemplate, project.name.toLowerCase()),
      authMode: authModeSchema.catch("towpath-cloud").parse(project.authMode),
      repository: repositoryPrivate || fullName === null || id === null ? null : { fullName, id },
      sequence,
      isLatest,
      publishedAt: publishedAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    };
  });
}
