import { member, organization, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { type Context, type OrganizationAccess, type ProjectAccess, type Role, roles } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import { isNamed } from "../projects/label/index.ts";
import { keyMay, type Permission, roleMay } from "./permission.policy.ts";

export type OrganizationScope = { readonly orgSlug: string } | { readonly organizationId: string };
export type ProjectScope = { readonly orgSlug: string; readonly projectName: string } | { readonly projectId: string };

const noAccess = () =>
  new TowpathError(
    "forbidden",
    "Forbidden: you are not a member of this organization, or there is no organization of this name.",
  );

const lowerRole = () => new TowpathError("forbidden", "Forbidden: your role in this organization does not allow this.");

const notByKey = () =>
  new TowpathError("forbidden", "Forbidden: API keys can't do this. Sign in to the dashboard and do it there.");

const limitedKey = () =>
  new TowpathError(
    "forbidden",
    "Forbidden: this API key is limited to some servers. This needs a key for all servers of the organization.",
  );

/**
 * A context for the rest of a request whose access the caller has checked. Verbs still check their own permission, but
 * don't read organization, project and role again. One request only: it doesn't notice later changes of them.
 */
export const withAccess = <Own extends Context>(ctx: Own, access: OrganizationAccess | ProjectAccess): Own => ({
  ...ctx,
  checked: { actor: ctx.actor, access },
});

/** A copy of a context for another actor has no access by it. */
const checkedAccess = ({ actor, checked }: Context): OrganizationAccess | ProjectAccess | undefined =>
  checked?.actor === actor ? checked.access : undefined;

/**
 * Checks that the actor has a permission in an organization; returns the organization and the actor's role.
 *
 * @throws TowpathError `forbidden`, with the same text for an organization that doesn't exist and one of others (ERR-1)
 */
export async function authorize(
  ctx: Context,
  permission: Permission,
  scope: OrganizationScope,
): Promise<OrganizationAccess> {
  const access = await authorizeVisible(ctx, permission, scope);
  if (ctx.actor.kind === "apiKey" && ctx.actor.projectIds) throw limitedKey();
  return access;
}

/** The same for lists of projects: the caller must leave out those that are not visible to the actor. */
export async function authorizeVisible(
  ctx: Context,
  permission: Permission,
  scope: OrganizationScope,
): Promise<OrganizationAccess & { readonly isVisible: (projectId: string) => boolean }> {
  const access = knownOrganization(ctx, scope) ?? (await readOrganizationAccess(ctx, scope));
  if (!access) throw noAccess();
  requirePermission(ctx, access.role, permission);
  return { ...access, isVisible: (projectId) => isOfKey(ctx, projectId) };
}

/**
 * The same for a project, by its name (or id) within an organization or by its id alone.
 *
 * @throws TowpathError `not_found` for a project that doesn't exist or belongs to others, `forbidden` for a role
 * without the permission
 */
export async function authorizeProject(
  ctx: Context,
  permission: Permission,
  scope: ProjectScope,
): Promise<ProjectAccess> {
  const access = knownProject(ctx, scope) ?? (await readProjectAccess(ctx, scope));
  if (!access) throw notFound("server");
  requirePermission(ctx, access.role, permission);
  return access;
}

/** @throws TowpathError `forbidden` */
function requirePermission({ actor }: Context, role: Role, permission: Permission): void {
  if (actor.kind === "apiKey" && !keyMay(permission)) throw notByKey();
  if (!roleMay(role, permission)) throw lowerRole();
}

/** For verbs that only jobs and the operator may run. */
export function authorizePlatform(ctx: Context): void {
  if (ctx.actor.kind === "operator" || ctx.actor.kind === "job") return;
  throw new TowpathError("forbidden", "Forbidden: only the platform may do this.");
}

/** Who acts, also by a personal API key, to be named as the creator of something; null for all others. */
export const actingUserId = ({ actor }: Context): string | null =>
  actor.kind === "user" || actor.kind === "apiKey" ? actor.userId : null;

/** Whether a key of the organization acts, which has a role, but no person whose role it is. */
export const isOrganizationKey = ({ actor }: Context): boolean => actor.kind === "apiKey" && actor.userId === null;

/** The signed-in user's id. @throws TowpathError `forbidden` for API keys, jobs and the operator. */
export function requireUser(ctx: Context): string {
  if (ctx.actor.kind === "user") return ctx.actor.userId;
  throw new TowpathError("forbidden", "Forbidden: only a signed-in user may do this.");
}

function knownOrganization(ctx: Context, scope: OrganizationScope): OrganizationAccess | undefined {
  const access = checkedAccess(ctx);
  const { id, slug } = access?.organization ?? {};
  return ("orgSlug" in scope ? scope.orgSlug === slug : scope.organizationId === id) ? access : undefined;
}

function knownProject(ctx: Context, scope: ProjectScope): ProjectAccess | undefined {
  const access = checkedAccess(ctx);
  if (!access || !("project" in access)) return undefined;
  const { project, organization } = access;
  if ("projectId" in scope) return scope.projectId === project.id ? access : undefined;
  const { orgSlug, projectName } = scope;
  const isSame = projectName === project.id || projectName.toLowerCase() === project.name.toLowerCase();
  return orgSlug === organization.slug && isSame ? access : undefined;
}

async function readOrganizationAccess(ctx: Context, scope: OrganizationScope): Promise<OrganizationAccess | undefined> {
  if ("organizationId" in scope && !isId(scope.organizationId)) return undefined;
  const [found] = await ctx.db
    .select({ id: organization.id, slug: organization.slug, name: organization.name })
    .from(organization)
    .where("orgSlug" in scope ? eq(organization.slug, scope.orgSlug) : eq(organization.id, scope.organizationId));
  const role = found && (await roleOf(ctx, found.id));
  return role && { organization: found, role };
}

async function readProjectAccess(ctx: Context, scope: ProjectScope): Promise<ProjectAccess | undefined> {
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
  if (!found || !isOfKey(ctx, found.project.id)) return undefined;
  const role = await roleOf(ctx, found.organization.id);
  return role && { ...found, role };
}

/** A project with the same name as a page is addressed by its id. Names are shorter than ids. */
const namedBy = (name: string) => (isId(name) ? eq(project.id, name) : isNamed(name));

/** A key that is limited to some servers sees no others. */
const isOfKey = ({ actor }: Context, projectId: string) =>
  actor.kind !== "apiKey" || (actor.projectIds?.includes(projectId) ?? true);

/**
 * The operator and jobs are owners of every organization; users have the role of their membership. A personal key has
 * its person's role, in its own organization only; a key of the organization acts as an admin, who alone can create it.
 */
async function roleOf(ctx: Context, organizationId: string): Promise<Role | undefined> {
  const { actor } = ctx;
  if (actor.kind === "operator" || actor.kind === "job") return "owner";
  if (actor.kind === "apiKey" && actor.organizationId !== organizationId) return undefined;
  if (actor.userId === null) return "admin";
  const [membership] = await ctx.db
    .select({ role: member.role })
    .from(member)
    .where(and(eq(member.organizationId, organizationId), eq(member.userId, actor.userId)));
  // An unknown role, written by a later version, gives no access.
  return roles.find((role) => role === membership?.role);
}
