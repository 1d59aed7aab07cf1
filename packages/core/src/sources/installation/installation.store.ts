import type { Database, Transaction } from "@towpath/db";
import { githubInstallation } from "@towpath/db/schema";
import { and, asc, eq, sql } from "drizzle-orm";
import { TowpathError } from "../../errors/index.ts";

type Queryable = Database | Transaction;

/** With the number of the organization's projects that each of them builds. */
export async function listInstallationRows(db: Queryable, organizationId: string) {
  // As text: drizzle leaves out a column's table where a query has only one.
  const projectCount = sql<number>`(
    SELECT count(*)::int FROM project p
    WHERE p.organization_id = ${organizationId} AND p.installation_id = github_installation.installation_id)`;
  return db
    .select({ installation: githubInstallation, projectCount })
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

/**
 * Checks that an installation can be used to read repositories.
 *
 * @throws TowpathError `invalid_input` with `fields.installationId` when the organization hasn't connected it,
 * `conflict` when its account's owner has suspended it
 */
export async function requireUsableInstallation(
  db: Queryable,
  organizationId: string,
  installationId: number,
): Promise<void> {
  const found = await findInstallation(db, organizationId, installationId);
  if (!found) {
    const message = "GitHub is not connected for this account. Install the App there first.";
    throw new TowpathError("invalid_input", message, { fields: { installationId: message } });
  }
  requireUsable(found);
}

/** @throws TowpathError `conflict` when the account's owner has suspended the App */
export function requireUsable(found: { readonly suspendedAt: Date | null; readonly accountLogin: string }): void {
  if (found.suspendedAt === null) return;
  const whose = `The owner of the GitHub account ${found.accountLogin}`;
  throw new TowpathError("conflict", `${whose} has suspended Towpath there. They can resume it in the App's settings.`);
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

export type InstallationView = {
  readonly installationId: number;
  readonly organizationId: string;
  readonly accountLogin: string;
  readonly accountType: string;
  /** The account's owner has suspended the App, so that it can't read anything until resumed. */
  readonly isSuspended: boolean;
  readonly createdAt: string;
};
