import type { Database, Transaction } from "@towpath/db";
import { branch, build, deployment, externalServer, portal, portalServer, project, route } from "@towpath/db/schema";
import { type Manifest, manifestSchema } from "@towpath/mcp/manifest";
import { createCatalog, type PortalMember, portalManifest } from "@towpath/mcp/portal";
import { and, asc, eq, inArray, ne, or, sql } from "drizzle-orm";
import type { z } from "zod";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { type createPortalSchema, defaultPrefix } from "./portal.schema.ts";

type Queryable = Database | Transaction;
export type PortalRow = typeof portal.$inferSelect;
type ProjectRow = typeof project.$inferSelect;

/** A server of a portal, with what it was last seen to offer. */
export type PortalServer = PortalMember & {
  readonly portalId: string;
  readonly project: ProjectRow;
  readonly iconHash: string | null;
};

/** @throws TowpathError `not_found` for a project of another kind */
export async function requirePortal(db: Queryable, projectId: string): Promise<PortalRow> {
  const [row] = await db.select().from(portal).where(eq(portal.projectId, projectId));
  if (!row) throw notFound("portal");
  return row;
}

/** The servers of portals of one organization, in their order. */
export async function selectPortalServers(
  db: Queryable,
  organizationId: string,
  portalIds: readonly string[],
): Promise<readonly PortalServer[]> {
  const live = db
    .select({ manifest: build.manifest, iconHash: build.iconHash })
    .from(route)
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(and(eq(route.projectId, project.id), eq(branch.isDefault, true)))
    .limit(1)
    .as("live");
  const rows = await db
    .select({
      member: portalServer,
      project,
      built: live.manifest,
      builtIcon: live.iconHash,
      inspected: externalServer.manifest,
      inspectedIcon: externalServer.iconHash,
    })
    .from(portalServer)
    .innerJoin(project, eq(project.id, portalServer.projectId))
    .leftJoinLateral(live, sql`true`)
    .leftJoin(externalServer, eq(externalServer.projectId, project.id))
    .where(and(eq(project.organizationId, organizationId), inArray(portalServer.portalId, [...portalIds])))
    .orderBy(asc(portalServer.portalId), asc(portalServer.position));
  return rows.map(({ member, project: found, ...row }) => ({
    ...member,
    project: found,
    manifest: manifestSchema.safeParse(row.inspected ?? row.built).data ?? null,
    iconHash: row.inspectedIcon ?? row.builtIcon,
  }));
}

/** The names of a portal's servers that callers can reach through it, in its order; null for a project of another kind. */
export async function findPortalServerNames(
  db: Queryable,
  { id, organizationId }: Pick<ProjectRow, "id" | "organizationId">,
): Promise<readonly string[] | null> {
  const [row] = await db.select({ id: portal.id }).from(portal).where(eq(portal.projectId, id));
  if (!row) return null;
  const rows = await db
    .select({ name: project.name })
    .from(portalServer)
    .innerJoin(project, eq(project.id, portalServer.projectId))
    .where(
      and(
        eq(project.organizationId, organizationId),
        eq(portalServer.portalId, row.id),
        ne(project.authMode, "passthrough"),
      ),
    )
    .orderBy(asc(portalServer.position));
  return rows.map(({ name }) => name);
}

/** What a portal offers, under the names that it gives; null for a project of another kind. */
export async function findPortalManifest(
  db: Queryable,
  { id, organizationId, name }: Pick<ProjectRow, "id" | "organizationId" | "name">,
): Promise<Manifest | null> {
  const [row] = await db.select().from(portal).where(eq(portal.projectId, id));
  if (!row) return null;
  const members = await selectPortalServers(db, organizationId, [row.id]);
  const { instructions, revision } = row;
  return portalManifest({ name, version: String(revision), instructions }, createCatalog(members));
}

type Requested = z.output<typeof createPortalSchema>["servers"];
export type Chosen = Pick<typeof portalServer.$inferSelect, "projectId" | "prefix" | "tools" | "resources" | "prompts">;

/**
 * The rows of a portal's servers.
 *
 * @throws TowpathError `invalid_input` by field for a server that the organization doesn't have, is there twice, does its
 * own sign-in or is a portal, and for a prefix that two have
 */
export async function chosenServers(
  db: Queryable,
  organizationId: string,
  requested: Requested,
): Promise<readonly Chosen[]> {
  const found = await selectNamed(
    db,
    organizationId,
    requested.map(({ server }) => server),
  );
  const fields: Record<string, string> = {};
  const chosen = requested.map(({ server, prefix, ...lists }, at): Chosen => {
    const row = found.find(({ id, name }) => id === server || name.toLowerCase() === server.toLowerCase());
    if (!row) fields[`servers.${at}.server`] = `There is no server ${server} in this organization.`;
    else if (row.authMode === "passthrough") fields[`servers.${at}.server`] = ownSignIn(row.name);
    return { projectId: row?.id ?? "", prefix: prefix ?? defaultPrefix(row?.name ?? "server"), ...lists };
  });
  for (const [at, { projectId, prefix }] of chosen.entries()) {
    const before = chosen.slice(0, at);
    if (projectId !== "" && before.some((other) => other.projectId === projectId))
      fields[`servers.${at}.server`] ??= "This server is already in the portal.";
    else if (before.some((other) => other.prefix === prefix))
      fields[`servers.${at}.prefix`] ??= `Another server of this portal has the prefix ${prefix}.`;
  }
  const [first] = Object.values(fields);
  if (first !== undefined) throw new TowpathError("invalid_input", first, { fields });
  return chosen;
}

const ownSignIn = (name: string) =>
  `${name} signs in its callers itself, and would need credentials made for the portal. ` +
  "Let Towpath sign in its callers to use it here.";

async function selectNamed(db: Queryable, organizationId: string, names: readonly string[]) {
  const lower = names.map((name) => name.toLowerCase());
  return db
    .select({ id: project.id, name: project.name, authMode: project.authMode })
    .from(project)
    .where(
      and(
        eq(project.organizationId, organizationId),
        ne(project.kind, "portal"),
        or(inArray(sql`lower(${project.name})`, lower), inArray(project.id, names.filter(isId))),
      ),
    );
}

/** Replaces the servers of a portal. */
export async function replaceServers(tx: Transaction, portalId: string, servers: readonly Chosen[]): Promise<void> {
  await tx.delete(portalServer).where(eq(portalServer.portalId, portalId));
  await tx.insert(portalServer).values(servers.map((each, position) => ({ ...each, portalId, position })));
}

/** What the audit log tells of a portal's servers. */
export async function namesOf(db: Queryable, servers: readonly Chosen[]): Promise<readonly string[]> {
  const ids = servers.map(({ projectId }) => projectId);
  const rows = await db.select({ name: project.name }).from(project).where(inArray(project.id, ids));
  return rows.map(({ name }) => name).sort();
}
