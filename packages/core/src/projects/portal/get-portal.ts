import { portal, project } from "@towpath/db/schema";
import { createCatalog } from "@towpath/mcp/portal";
import { and, asc, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { authorize, authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { authModeSchema } from "../project/project.schema.ts";
import { projectPathName } from "../reserved-names/index.ts";
import { mcpUrl } from "../server-url/index.ts";
import { requirePortal, selectPortalServers } from "./portal.store.ts";
import { type PortalView, portalView } from "./portal.view.ts";

/**
 * What a portal offers, and of which servers (ORG-3).
 *
 * @throws TowpathError `not_found` for a project of another kind
 */
export async function getPortal(call: Call<ProjectScope>): Promise<PortalView> {
  const { ctx } = call;
  const { project: found, organization } = await authorizeProject(ctx, "build.read", call.input);
  const row = await requirePortal(ctx.db, found.id);
  return portalView(row, await selectPortalServers(ctx.db, organization.id, [row.id]));
}

export const portalListItemSchema = z.object({
  /** Of its project. */
  id: z.uuid(),
  name: z.string(),
  pathName: z.string(),
  authMode: authModeSchema,
  /** Its MCP endpoint. */
  url: z.url(),
  /** Names of its servers, in its order. */
  servers: z.array(z.string()).readonly(),
  /** How many tools it offers. */
  tools: z.number().int(),
});
export type PortalListItem = z.infer<typeof portalListItemSchema>;

/** The portals of an organization, by name (ORG-3). */
export async function listPortals(call: Call<{ readonly orgSlug: string }>): Promise<readonly PortalListItem[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  const rows = await ctx.db
    .select({ project, portalId: portal.id })
    .from(portal)
    .innerJoin(project, eq(project.id, portal.projectId))
    .where(and(eq(project.organizationId, organization.id), eq(project.kind, "portal")))
    .orderBy(asc(sql`lower(${project.name})`));
  const ids = rows.map(({ portalId }) => portalId);
  const members = ids.length === 0 ? [] : await selectPortalServers(ctx.db, organization.id, ids);
  return rows.map(({ project: found, portalId }) => {
    const own = members.filter((member) => member.portalId === portalId);
    return {
      id: found.id,
      name: found.name,
      pathName: projectPathName(found),
      authMode: authModeSchema.catch("towpath-cloud").parse(found.authMode),
      url: mcpUrl(ctx.serverUrlTemplate, found.name.toLowerCase()),
      servers: own.map((member) => member.project.name),
      tools: createCatalog(own).tools.length,
    };
  });
}
