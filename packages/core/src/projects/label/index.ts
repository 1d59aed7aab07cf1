import type { Database, Transaction } from "@towpath/db";
import { formerName, project, route } from "@towpath/db/schema";
import { and, eq, gt, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { isReservedName } from "../reserved-names/index.ts";
import { hashedRouteLabel, routeLabel } from "../server-url/index.ts";

type Queryable = Database | Transaction;

/**
 * Locks the assignment of host labels (project names, preview labels) until the transaction ends. They share one
 * namespace, and no constraint spans two tables. All organizations share this lock, so hold it only briefly.
 */
export async function lockLabels(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtext('towpath_label'))`);
}

/** A former name that still leads to its project. */
const stillLeads = gt(formerName.expiresAt, sql`now()`);

/** Whether a project had a name, in lower case, before it was renamed. */
export function isFormerName(name: string) {
  const found = sql`(SELECT former.project_id FROM former_name former WHERE former.name = ${name} AND former.expires_at > now())`;
  return eq(project.id, found);
}

/** Whether a project has a name, ignoring case, or had it. */
export function isNamed(name: string) {
  const lower = name.toLowerCase();
  return or(eq(sql`lower(${project.name})`, lower), isFormerName(lower));
}

/**
 * Which of these lower-case names are taken on the whole instance, as a project's name, a former one or a route's label.
 * `projectId`: of a project that may take its own former names.
 */
export async function takenNames(
  db: Queryable,
  names: readonly string[],
  projectId: string | null = null,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  // One statement: the connection of a transaction runs one at a time.
  const found = await db
    .select({ name: sql<string>`lower(${project.name})` })
    .from(project)
    .where(inArray(sql`lower(${project.name})`, [...names]))
    .union(
      db
        .select({ name: formerName.name })
        .from(formerName)
        .where(
          and(
            inArray(formerName.name, [...names]),
            stillLeads,
            projectId === null ? undefined : ne(formerName.projectId, projectId),
          ),
        ),
    )
    .union(
      db
        .select({ name: route.label })
        .from(route)
        .where(inArray(route.label, [...names])),
    );
  return new Set(found.map((row) => row.name));
}

export type LabelOwner = {
  readonly projectId: string;
  readonly projectName: string;
  readonly branch: { readonly id: string; readonly name: string; readonly isDefault: boolean };
};

/**
 * The host label of a branch's deployments: that of its route if it has one, else the plain label, or the label with a
 * hash if another project has taken that. Production labels are project names, which are unique. Reliable only under
 * `lockLabels`.
 */
export async function chooseLabel(db: Queryable, owner: LabelOwner): Promise<string> {
  const [own] = await db.select({ label: route.label }).from(route).where(eq(route.branchId, owner.branch.id));
  if (own) return own.label;
  const plain = routeLabel(owner.projectName, owner.branch);
  if (owner.branch.isDefault) return plain;
  const taken = isReservedName(plain) || (await takenByOthers(db, owner, plain));
  return taken ? hashedRouteLabel(owner.projectName, owner.branch.name) : plain;
}

async function takenByOthers(db: Queryable, owner: LabelOwner, label: string): Promise<boolean> {
  const named = db
    .select({ taken: sql`1` })
    .from(project)
    .where(and(eq(sql`lower(${project.name})`, label), ne(project.id, owner.projectId)));
  const former = db
    .select({ taken: sql`1` })
    .from(formerName)
    .where(and(eq(formerName.name, label), stillLeads));
  // A route without a branch belongs to an external server or a portal.
  const routed = db
    .select({ taken: sql`1` })
    .from(route)
    .where(and(eq(route.label, label), or(isNull(route.branchId), ne(route.branchId, owner.branch.id))));
  return (await named.union(former).union(routed)).length > 0;
}
