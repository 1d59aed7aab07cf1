import { githubInstallation } from "@towpath/db/schema";
import { z } from "zod";
import { audit } from "../audit/index.ts";
import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { parseInput } from "../input/index.ts";
import { checkBranches } from "../webhook/internal.ts";
import { findInstallation, type InstallationView, installationView } from "./installation.store.ts";

/**
 * Records that a GitHub App installation serves an organization (ONB-2). Idempotent; a renamed account is updated.
 * The caller has made sure that the user may claim it: GitHub lists the installation for them, and they administer its
 * account. Several organizations may hold the same installation, each by such a claim.
 */
export async function recordInstallation(call: {
  ctx: Context;
  input: RecordInstallationInput;
}): Promise<InstallationView> {
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
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "installation.record",
      subject: String(input.installationId),
      detail: { accountLogin: input.accountLogin },
    });
    // Projects that had lost access to GitHub may have it again.
    if (!before || before.suspendedAt) await checkBranches(tx, ctx, { organizationId: organization.id });
    return installationView(row);
  });
}

const recordInstallationSchema = z.object({
  installationId: z.number().int().positive(),
  accountLogin: z.string().min(1).max(100),
  /** User | Organization, as GitHub says it. */
  accountType: z.string().min(1).max(40),
});
export type RecordInstallationInput = z.input<typeof recordInstallationSchema> & { readonly orgSlug: string };
