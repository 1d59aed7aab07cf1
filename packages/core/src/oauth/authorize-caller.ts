import { readPolicy } from "../access/internal.ts";
import { authorizeProject, type ProjectAccess } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";

/**
 * Checks that the actor may call the server now, by the server's own policy (GW-15), as the gateway does at each call.
 *
 * @throws TowpathError `not_found` for a server of others, `forbidden` for a role that may not call it
 */
export async function authorizeCaller(ctx: Context, projectId: string): Promise<ProjectAccess> {
  const access = await authorizeProject(ctx, "project.read", { projectId });
  const { roles } = await readPolicy(ctx.db, projectId);
  if (roles.includes(access.role)) return access;
  throw new TowpathError("forbidden", "Forbidden: your role in this team does not allow calling this server.");
}
