import { githubInstallation } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";

/**
 * Removes an installation from an organization. Its projects get no more builds and keep what is live; connecting the
 * same account again brings their builds back. The App stays installed at GitHub, where its owner removes it.
 *
 * @throws TowpathError `not_found` when the organization has no such installation
 */
export async function disconnectInstallation({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly installationId: number }>): Promise<void> {
  const { organization } = await authorize(ctx, "installation.disconnect", { orgSlug: input.orgSlug });
  await ctx.db.transaction(async (tx) => {
    const [removed] = await tx
      .delete(githubInstallation)
      .where(
        and(
          eq(githubInstallation.organizationId, organization.id),
          eq(githubInstallation.installationId, input.installationId),
        ),
      )
      .returning();
    if (!removed) throw notFound("installation");
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "installation.disconnect",
      subject: String(removed.installationId),
      detail: { accountLogin: removed.accountLogin },
    });
  });
}
