import type { Transaction } from "@towpath/db";
import { branch, githubInstallation, project } from "@towpath/db/schema";
import { and, asc, eq, isNull, or } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { InstallationAtGitHub } from "../../ports/index.ts";
import { hintBranch } from "./hint-branch.ts";

const maxRequests = 5;

/**
 * Brings our record of an installation up to date with GitHub (GH-1), for every organization that holds it. A removed
 * installation is deleted. A suspended one starts no builds until it is resumed; what is live stays live. After a
 * change GitHub is asked once more, so that of two concurrent runs the later answer wins.
 *
 * While an installation can be used, each run has all its branches checked, even if the record was already right:
 * GitHub sends no pushes during a suspension, and a suspension may be over before its first delivery is processed.
 *
 * @throws when GitHub is unavailable; the job is then retried
 */
export async function syncInstallation({
  ctx,
  input,
}: Call<{ readonly installationId: number }, "repositories">): Promise<{ readonly changed: boolean }> {
  authorizePlatform(ctx);
  for (let requests = 0; requests < maxRequests; requests++) {
    const seen = await ctx.repositories.installation(input.installationId);
    const changed = await ctx.db.transaction((tx) => settle(tx, ctx, input.installationId, seen));
    if (!changed) return { changed: requests > 0 };
  }
  throw new TowpathError("conflict", "The installation kept changing during the requests to GitHub.");
}

type Row = typeof githubInstallation.$inferSelect;

async function settle(
  tx: Transaction,
  ctx: Context,
  installationId: number,
  seen: InstallationAtGitHub,
): Promise<boolean> {
  const rows = await tx
    .select()
    .from(githubInstallation)
    .where(eq(githubInstallation.installationId, installationId))
    .orderBy(asc(githubInstallation.organizationId))
    .for("update");
  let changed = false;
  for (const row of rows) {
    if (seen.kind === "gone") {
      await tx.delete(githubInstallation).where(ofRow(row));
      await auditChange(tx, ctx, row, "installation.remove");
      changed = true;
      continue;
    }
    if ((row.suspendedAt !== null) !== seen.isSuspended || row.accountLogin !== seen.accountLogin) {
      await change(tx, ctx, row, seen);
      changed = true;
    }
    if (!seen.isSuspended) await checkBranches(tx, ctx, row);
  }
  return changed;
}

async function change(
  tx: Transaction,
  ctx: Context,
  row: Row,
  seen: Extract<InstallationAtGitHub, { kind: "installed" }>,
): Promise<void> {
  const suspendedAt = seen.isSuspended ? (row.suspendedAt ?? ctx.clock.now()) : null;
  await tx.update(githubInstallation).set({ suspendedAt, accountLogin: seen.accountLogin }).where(ofRow(row));
  if (seen.isSuspended === (row.suspendedAt !== null)) return;
  await auditChange(tx, ctx, row, seen.isSuspended ? "installation.suspend" : "installation.resume");
}

const ofRow = (row: Row) =>
  and(
    eq(githubInstallation.organizationId, row.organizationId),
    eq(githubInstallation.installationId, row.installationId),
  );

function auditChange(tx: Transaction, ctx: Context, row: Row, action: string): Promise<void> {
  return audit(tx, ctx, {
    organizationId: row.organizationId,
    action,
    subject: String(row.installationId),
    detail: { accountLogin: row.accountLogin },
  });
}

/**
 * Marks for a check at GitHub the default branches, and the other branches that have not ended, of the organization's
 * projects, or only of those that use one installation.
 */
export async function checkBranches(
  tx: Transaction,
  ctx: Context,
  of: { readonly organizationId: string; readonly installationId?: number },
): Promise<void> {
  const rows = await tx
    .select({ project, name: branch.name })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .where(
      and(
        eq(project.organizationId, of.organizationId),
        of.installationId === undefined ? undefined : eq(project.installationId, of.installationId),
        or(isNull(branch.endedAt), eq(branch.isDefault, true)),
      ),
    )
    .orderBy(asc(project.createdAt), asc(project.id), asc(branch.id));
  for (const row of rows) await hintBranch(tx, ctx, { project: row.project, branch: row.name, mayBeNew: false });
}
