import type { Database, Transaction } from "@towpath/db";
import { domain } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { notFound } from "../../errors/index.ts";

export type DomainRow = typeof domain.$inferSelect;

/** @throws TowpathError `not_found` for one that the project doesn't have */
export async function requireDomain(db: Database | Transaction, projectId: string, name: string): Promise<DomainRow> {
  const own = and(eq(domain.projectId, projectId), eq(domain.name, name));
  const [found] = await db.select().from(domain).where(own);
  if (!found) throw notFound("domain");
  return found;
}
