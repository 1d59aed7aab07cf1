import type { Database, Transaction } from "@towpath/db";
import { project, user, workloadIdentity } from "@towpath/db/schema";
import { and, asc, desc, eq, inArray, type SQL } from "drizzle-orm";
import { z } from "zod";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";

/** Whose tokens an organization accepts (KEY-6). None of it is secret. */
export const workloadIdentityViewSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  issuer: z.string().describe("`iss` of its tokens"),
  subjects: z.array(z.string()).readonly().describe("patterns of `sub`; `*` stands for characters other than a colon"),
  keysFrom: z.enum(["discovery", "address", "pasted"]).describe("where the issuer's keys come from"),
  jwksUrl: z.string().nullable(),
  hasCertificate: z.boolean().describe("the issuer's host is trusted by certificates of its own"),
  status: z.enum(["active", "revoked"]),
  problem: z.string().nullable().describe("why the issuer's keys could not be read at the last attempt"),
  /** The servers that they may call, by name. Empty when all of them were deleted. */
  servers: z
    .array(z.object({ id: z.uuid(), name: z.string() }))
    .readonly()
    .nullable()
    .describe("null: all of the organization"),
  /** Null when the account was deleted, and for what the operator created. */
  createdBy: z.string().nullable(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
});
export type WorkloadIdentityView = z.infer<typeof workloadIdentityViewSchema>;

type Queryable = Database | Transaction;

/** The identities of an organization, newest first, including revoked ones. */
export async function workloadIdentityViews(
  db: Queryable,
  organizationId: string,
  condition?: SQL,
): Promise<WorkloadIdentityView[]> {
  const rows = await db
    .select({ identity: workloadIdentity, createdBy: user.name })
    .from(workloadIdentity)
    .leftJoin(user, eq(user.id, workloadIdentity.createdByUserId))
    .where(and(eq(workloadIdentity.organizationId, organizationId), condition))
    .orderBy(desc(workloadIdentity.createdAt), desc(workloadIdentity.id));
  const servers = await serversOf(db, organizationId, [
    ...new Set(rows.flatMap((row) => row.identity.projectIds ?? [])),
  ]);
  return rows.map(({ identity, createdBy }) => ({
    id: identity.id,
    name: identity.name,
    issuer: identity.issuer,
    subjects: identity.subjects,
    keysFrom: identity.keySet !== null ? "pasted" : identity.jwksUrl !== null ? "address" : "discovery",
    jwksUrl: identity.jwksUrl,
    hasCertificate: identity.ca !== null,
    status: identity.enabled ? "active" : "revoked",
    problem: identity.problem,
    servers: identity.projectIds && servers.filter(({ id }) => identity.projectIds?.includes(id)),
    createdBy,
    createdAt: identity.createdAt.toISOString(),
    lastUsedAt: identity.lastUsedAt?.toISOString() ?? null,
  }));
}

/** @throws TowpathError `not_found`, also for one of another organization */
export async function requireWorkloadIdentity(
  db: Queryable,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
): Promise<WorkloadIdentityView> {
  const [view] = isId(id) ? await workloadIdentityViews(db, organizationId, eq(workloadIdentity.id, id)) : [];
  if (!view) throw notFound("Workload identity");
  return view;
}

/** Those of the projects that the organization has. */
export function serversOf(db: Queryable, organizationId: string, ids: readonly string[]) {
  return db
    .select({ id: project.id, name: project.name })
    .from(project)
    .where(and(eq(project.organizationId, organizationId), inArray(project.id, [...ids])))
    .orderBy(asc(project.name));
}
