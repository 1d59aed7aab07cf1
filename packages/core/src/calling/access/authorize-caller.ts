import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Context, ProjectAccess, Role } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { defaultRoles, readPolicy } from "./access.store.ts";

/**
 * Checks that the actor may call the server now, by the server's own policy (GW-15), as the gateway does at each call.
 * Where Towpath doesn't check callers, the roles decide that may call by default.
 *
 * @throws TowpathError `not_found` for a server of others, `forbidden` for a role that may not call it
 */
export async function authorizeCaller(ctx: Context, scope: ProjectScope): Promise<ProjectAccess> {
  const access = await authorizeProject(ctx, "project.read", scope);
  if (await mayCallServer(ctx, access)) return access;
  throw new TowpathError("forbidden", "Forbidden: your role in this organization does not allow calling this server.");
}

/** The same as an answer, for pages. */
export async function mayCallServer(
  ctx: Context,
  { project, role }: { readonly project: { readonly id: string; readonly authMode: string }; readonly role: Role },
): Promise<boolean> {
  const { roles } =
    project.authMode === "towpath-cloud" ? await readPolicy(ctx.db, project.id) : { roles: defaultRoles };
  return roles.includes(role);
}
