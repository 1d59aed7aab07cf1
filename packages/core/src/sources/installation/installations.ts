import { githubInstallation, githubUser, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorize, requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { atHost } from "../github-connection/numbers.schema.ts";
import { checkBranches } from "../webhook/internal.ts";
import {
  findInstallation,
  type InstallationView,
  installationView,
  listInstallationRows,
  requireUsableInstallation,
} from "./installation.store.ts";

/** The GitHub installations of an organization, oldest first (GH-1). */
export async function listInstallations({
  ctx,
  input,
}: Call<{ readonly orgSlug: string }>): Promise<readonly (InstallationView & { readonly projectCount: number })[]> {
  const { organization } = await authorize(ctx, "installation.read", { orgSlug: input.orgSlug });
  const rows = await listInstallationRows(ctx.db, organization.id);
  return rows.map(({ installation, projectCount }) => ({ ...installationView(installation), projectCount }));
}

/**
 * Checks that the actor may use an installation to read repositories, before a request to GitHub.
 *
 * @throws TowpathError see `requireUsableInstallation`
 */
export async function requireInstallation({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly installationId: number }>): Promise<void> {
  const { organization } = await authorize(ctx, "installation.read", { orgSlug: input.orgSlug });
  await requireUsableInstallation(ctx.db, organization.id, input.installationId);
}

/**
 * Connects a GitHub App installation to an organization (ONB-2). Idempotent; updates a renamed account. The caller must
 * have checked that the user may claim it: GitHub lists the installation for them, and they administer its account.
 * Several organizations may connect the same installation.
 */
export async function recordInstallation(call: Call<RecordInstallationInput>): Promise<InstallationView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "installation.manage", { orgSlug: call.input.orgSlug });
  const input = parseInput(recordInstallationSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    const before = await findInstallation(tx, organization.id, input.installationId);
    const [row] = await tx
      .insert(githubInstallation)
      .values({
        ...input,
        organizationId: organization.id,
        installedByUserId: ctx.actor.kind === "user" ? ctx.actor.userId : null,
        createdAt: ctx.clock.now(),
      })
      .onConflictDoUpdate({
        target: [githubInstallation.organizationId, githubInstallation.installationId],
        set: { accountLogin: input.accountLogin, accountType: input.accountType, suspendedAt: null },
      })
      .returning();
    if (!row) throw new TowpathError("internal", "The installation could not be recorded.");
    const isBack = !before || before.suspendedAt !== null;
    // Each deploy from the terminal comes here: what is connected already is no change.
    if (isBack || before.accountLogin !== input.accountLogin)
      await audit(tx, ctx, {
        organizationId: organization.id,
        action: "installation.record",
        subject: String(input.installationId),
        detail: { accountLogin: input.accountLogin },
      });
    // Projects without access to GitHub may have it again.
    if (isBack) await checkBranches(tx, ctx, { organizationId: organization.id });
    return installationView(row);
  });
}

const recordInstallationSchema = z.object({
  installationId: z.number().int().positive(),
  accountLogin: z.string().min(1).max(100),
  /** User | Organization, as in GitHub's API. */
  accountType: z.string().min(1).max(40),
});
type RecordInstallationInput = z.input<typeof recordInstallationSchema> & { readonly orgSlug: string };

const gitHubUserSchema = z.object({ githubUserId: z.number().int().positive() });

/** Stores the GitHub account with which the signed-in user has authorized the App (`Profile.githubUserId`). */
export async function recordGitHubUser(call: Call<{ readonly githubUserId: number }>): Promise<void> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const { githubUserId } = parseInput(gitHubUserSchema, call.input);
  await ctx.db.transaction(async (tx) => {
    const [before] = await tx.select().from(user).where(eq(user.id, userId)).for("update");
    if (!before) throw notFound("profile");
    await tx
      .insert(githubUser)
      .values({ userId, connection: atHost(githubUserId).connection, githubUserId })
      .onConflictDoUpdate({ target: [githubUser.userId, githubUser.connection], set: { githubUserId } });
    // Each round trip to GitHub comes here: the same account is no change.
    if (before.githubUserId === githubUserId) return;
    await tx.update(user).set({ githubUserId, updatedAt: ctx.clock.now() }).where(eq(user.id, userId));
    await audit(tx, ctx, {
      organizationId: null,
      action: "user.connect-github",
      subject: userId,
      detail: { githubUserId },
    });
  });
}
