import type { Database, Transaction } from "@towpath/db";
import {
  accessPolicy,
  apikey,
  branch,
  build,
  deployment,
  member,
  organization,
  project,
  route,
  workloadIdentity,
} from "@towpath/db/schema";
import { type Manifest, manifestSchema } from "@towpath/mcp/manifest";
import { and, arrayContains, desc, eq, isNull, or, sql } from "drizzle-orm";
import { roleMay } from "../../authorize/index.ts";
import { type Role, roles } from "../../context/index.ts";
import { findExternalManifest } from "../../projects/external-server/internal.ts";
import { findPortalManifest } from "../../projects/portal/internal.ts";

type Queryable = Database | Transaction;

/** A policy as it applies. `null`: all. */
export type Policy = {
  readonly roles: readonly Role[];
  readonly apiKeyIds: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly knownTools: readonly string[];
  /** 0: nothing is stored. */
  readonly revision: number;
};

/** The roles that may call a server without a policy of its own. */
export const defaultRoles: readonly Role[] = roles.filter((role) => roleMay(role, "server.call"));

/** The policy of a project; the defaults where none is stored. */
export async function readPolicy(db: Queryable, projectId: string): Promise<Policy> {
  const [row] = await db.select().from(accessPolicy).where(eq(accessPolicy.projectId, projectId));
  if (!row) return { roles: defaultRoles, apiKeyIds: null, tools: null, knownTools: [], revision: 0 };
  return {
    roles: rolesOf(row),
    apiKeyIds: row.apiKeyIds,
    tools: row.tools,
    knownTools: row.knownTools,
    revision: row.revision,
  };
}

/** Unknown roles, written by a later version, give no access. */
const rolesOf = (row: Pick<typeof accessPolicy.$inferSelect, "roles"> | null): readonly Role[] =>
  row?.roles ? roles.filter((role) => row.roles?.includes(role)) : defaultRoles;

/** More than anybody has; others can still be named by their address in a client. */
const maxCallable = 500;

/** The live servers with sign-in by Towpath that a person may call, by organization and name. */
export async function callableServers(db: Queryable, userId: string) {
  const rows = await db
    .select({ name: project.name, organizationName: organization.name, role: member.role, policy: accessPolicy })
    .from(member)
    .innerJoin(organization, eq(organization.id, member.organizationId))
    .innerJoin(project, eq(project.organizationId, organization.id))
    .innerJoin(route, and(eq(route.projectId, project.id), eq(route.label, sql`lower(${project.name})`)))
    .leftJoin(accessPolicy, eq(accessPolicy.projectId, project.id))
    .where(and(eq(member.userId, userId), eq(project.authMode, "towpath-cloud")))
    .orderBy(organization.name, project.name)
    .limit(maxCallable);
  return rows.filter(({ role, policy }) => rolesOf(policy).some((allowed) => allowed === role));
}

/** Whether a project restricts who may call its server. */
export async function restrictsCallers(db: Queryable, projectId: string): Promise<boolean> {
  const { roles: allowed, apiKeyIds } = await readPolicy(db, projectId);
  return apiKeyIds !== null || !hasDefaultRoles(allowed);
}

export const hasDefaultRoles = (allowed: readonly Role[]): boolean =>
  allowed.length === defaultRoles.length && defaultRoles.every((role) => allowed.includes(role));

type Named = Pick<typeof project.$inferSelect, "id" | "organizationId" | "name" | "kind">;

/**
 * The tools of the version that is live in production, of an external server or of a portal, in its order; null when none
 * is live.
 */
export async function liveTools(db: Queryable, found: Named): Promise<Manifest["tools"] | null> {
  const projectId = found.id;
  if (found.kind === "portal") return (await findPortalManifest(db, found))?.tools ?? null;
  const [row] = await db
    .select({ manifest: build.manifest })
    .from(route)
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(and(eq(route.projectId, projectId), eq(branch.isDefault, true)))
    .limit(1);
  if (!row) return (await findExternalManifest(db, projectId))?.tools ?? null;
  return manifestSchema.safeParse(row.manifest).data?.tools ?? [];
}

/** Of `liveTools`, those that the policy lets anybody call. */
export async function callableTools(db: Queryable, found: Named): Promise<Manifest["tools"] | null> {
  const [tools, policy] = await Promise.all([liveTools(db, found), readPolicy(db, found.id)]);
  return tools?.filter(({ tool_name }) => policy.tools?.includes(tool_name) ?? true) ?? null;
}

type Reached = { readonly organizationId: string; readonly id: string };

/**
 * The organization's own keys and then its workload identities that can reach the project, each newest first. Personal
 * keys aren't listed: they act as their person, by role.
 */
export async function listKeys(db: Queryable, reached: Reached) {
  const [keys, workloads] = await Promise.all([ownKeys(db, reached), ownWorkloads(db, reached)]);
  return [
    ...keys.map((key) => ({ ...key, kind: "key" as const })),
    ...workloads.map((each) => ({ ...each, kind: "workload" as const, expiresAt: null })),
  ];
}

function ownWorkloads(db: Queryable, { organizationId, id }: Reached) {
  const { projectIds, createdAt } = workloadIdentity;
  return db
    .select({
      id: workloadIdentity.id,
      name: workloadIdentity.name,
      start: workloadIdentity.issuer,
      enabled: workloadIdentity.enabled,
    })
    .from(workloadIdentity)
    .where(
      and(eq(workloadIdentity.organizationId, organizationId), or(isNull(projectIds), arrayContains(projectIds, [id]))),
    )
    .orderBy(desc(createdAt), desc(workloadIdentity.id));
}

function ownKeys(db: Queryable, { organizationId, id }: Reached) {
  return db
    .select({
      id: apikey.id,
      name: apikey.name,
      start: apikey.start,
      enabled: apikey.enabled,
      expiresAt: apikey.expiresAt,
    })
    .from(apikey)
    .where(
      and(
        eq(apikey.organizationId, organizationId),
        isNull(apikey.userId),
        or(isNull(apikey.projectIds), arrayContains(apikey.projectIds, [id])),
      ),
    )
    .orderBy(desc(apikey.createdAt), desc(apikey.id));
}
