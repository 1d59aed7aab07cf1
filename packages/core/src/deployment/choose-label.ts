import type { Database, Transaction } from "@towpath/db";
import { project, route } from "@towpath/db/schema";
import { and, eq, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { isReservedName } from "../reserved-names/index.ts";
import { hashedRouteLabel, routeLabel } from "../server-url/index.ts";

export type LabelOwner = {
  readonly projectId: string;
  readonly projectName: string;
  readonly branch: { readonly id: string; readonly name: string; readonly isDefault: boolean };
};

/**
 * The host label of a branch's deployments: that of its route once it has one, else the plain label, else, when
 * another project has that as its name or label, the one with the hash. Production labels are project names, which
 * nobody else can have. Exact only under `lockLabels`.
 */
export async function chooseLabel(db: Database | Transaction, owner: LabelOwner): Promise<string> {
  const [own] = await db.select({ label: route.label }).from(route).where(eq(route.branchId, owner.branch.id));
  if (own) return own.label;
  const plain = routeLabel(owner.projectName, owner.branch);
  if (owner.branch.isDefault) return plain;
  const taken = isReservedName(plain) || (await takenByOthers(db, owner, plain));
  return taken ? hashedRouteLabel(owner.projectName, owner.branch.name) : plain;
}

async function takenByOthers(db: Database | Transaction, owner: LabelOwner, label: string): Promise<boolean> {
  const [named, routed] = await Promise.all([
    db.$count(project, and(inArray(sql`lower(${project.name})`, [label]), ne(project.id, owner.projectId))),
    // Without a branch the label is that of an external server or a portal.
    db.$count(route, and(eq(route.label, label), or(isNull(route.branchId), ne(route.branchId, owner.branch.id)))),
  ]);
  return named > 0 || routed > 0;
}
