import { member, organization, project } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { type Context, type Role, roles } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import { type Permission, roleMay } from "./permission.policy.ts";

export type OrganizationAccess = {
  readonly organization: { readonly id: string; readonly slug: string; readonly name: string };
  readonly role: Role;
};

export type OrganizationScope = { readonly orgSlug: string } | { readonly organizationId: string };
export type ProjectScope = { readonly orgSlug: string; readonly projectName: string } | { readonly projectId: string };

type ProjectRow = typeof project.$inferSelect;
export type ProjectAccess = OrganizationAccess & { readonly project: ProjectRow };

const noAccess = () =>
  new TowpathError("forbidden", "Forbidden: you are not a member of this team, or there is no team of this name.");

const lowerRole = () => new TowpathError("forbidden", "Forbidden: your role in this team does not allow this.");

/**
 * Checks that the actor may do something in an organization, and says which one it is and with what role.
 *
 * @throws TowpathError `forbidden`: the same for an organization that does not exist and one of others (ERR-1).
 */
export async function authorize(
  ctx: Context,
  permission: Permission,
  scope: OrganizationScope,
): Promise<OrganizationAccess> {
  const found = await findOrganization(ctx, scope);
  const role = found && (await roleOf(ctx, found.id));
  if (!found || !role) throw noAccess();
  if (!roleMay(role, permission)) throw lowerRole();
  return { organization: found, role };
}

/**
 * The same for a project, by its name (or id) within an organization or by its id alone.
 *
 * @throws TowpathError `not_found` for what is absent or of others, `forbidden` for a role that is too low.
 */
export async function authorizeProject(
  ctx: Context,
  permission: Permission,
  scope: ProjectScope,
): Promise<ProjectAccess> {
  const found = await findProject(ctx, scope);
  const role = found && (await roleOf(ctx, found.organization.id));
  if (!found || !role) throw notFound("project");
  if (!roleMay(role, permission)) throw lowerRole();
  return { ...found, role };
}

/** For verbs that only the platform's own jobs and its operator may run. */
export function authorizePlatform(ctx: Context): void {
  if (ctx.actor.kind === "user") throw new TowpathError("forbidden", "Forbidden: only the platform may do this.");
}

/** The acting user's id. @throws TowpathError `forbidden` for jobs and the operator, which have no account. */
export function requireUser(ctx: Context): string {
  if (ctx.actor.kind === "user") return ctx.actor.userId;
  throw new TowpathError("forbidden", "Forbidden: only a signed-in user may do this.");
}

async function findOrganization(ctx: Context, scope: OrganizationScope) {
  if ("organizationId" in scope && !isId(scope.organizationId)) return undefined;
  const [found] = await ctx.db
    .select({ id: organization.id, slug: organization.slug, name: organization.name })
    .from(organization)
    .where("orgSlug" in scope ? eq(organization.slug, scope.orgSlug) : eq(organization.id, scope.organizationId));
  return found;
}

async function findProject(ctx: Context, scope: ProjectScope) {
  if ("projectId" in scope && !isId(scope.projectId)) return undefined;
  const [found] = await ctx.db
    .select({
      project,
      organization: { id: organization.id, slug: organization.slug, name: organization.name },
    })
    .from(project)
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .where(
      "projectId" in scope
        ? eq(project.id, scope.projectId)
        : and(eq(organization.slug, scope.orgSlug), namedBy(scope.projectName)),
    );
  return found;
}

/** A project with the name of a page is addressed by its id. No name is as long as an id. */
function namedBy(name: string) {
  const lower = name.toLowerCase();
  return isId(name) ? eq(project.id, name) : eq(sql`lower(${project.name})`, lower);
}

/** The operator and jobs act as owners everywhere; a user acts by membership. */
async function roleOf(ctx: Context, organizationId: string): Promise<Role | undefined> {
  if (ctx.actor.kind !== "user") return "owner";
  const [membership] = await ctx.db
    .select({ role: member.role })
    .from(member)
    .where(and(eq(member.organizationId, organizationId), eq(member.userId, ctx.actor.userId)));
  // A role that is not ours (a row written by a later version) gives nothing.
  return roles.find((role) => role === membership?.role);
}
