import type { Database, Transaction } from "@towpath/db";
import { githubInstallation } from "@towpath/db/schema";
import { and, asc, eq } from "drizzle-orm";
import type { InstallationView } from "./installation.view.ts";

type Queryable = Database | Transaction;

export async function listInstallationRows(db: Queryable, organizationId: string) {
  return db
    .select()
    .from(githubInstallation)
    .where(eq(githubInstallation.organizationId, organizationId))
    .orderBy(asc(githubInstallation.createdAt), asc(githubInstallation.installationId));
}

export async function findInstallation(db: Queryable, organizationId: string, installationId: number) {
  const [row] = await db
    .select()
    .from(githubInstallation)
    .where(
      and(eq(githubInstallation.organizationId, organizationId), eq(githubInstallation.installationId, installationId)),
    );
  return row;
}

export function installationView(row: typeof githubInstallation.$inferSelect): InstallationView {
  return {
    installationId: row.installationId,
    organizationId: row.organizationId,
    accountLogin: row.accountLogin,
    accountType: row.accountType,
    isSuspended: row.suspendedAt !== null,
    createdAt: row.createdAt.toISOString(),
  };
}
