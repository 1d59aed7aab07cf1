import { apikey, organization, project, session } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { enqueueLeaving } from "../../delivery/branch/index.ts";
import { requireConfirmation } from "../../input/index.ts";
import { lockForDeletion } from "../../projects/project/internal.ts";

/**
 * Deletes an organization with its projects (like `deleteProject`), members, invitations, API keys, GitHub connections
 * and audit log. Keeps the users' accounts, and one audit entry without an organization.
 *
 * @throws TowpathError `invalid_input` with `fields.confirmation` when that isn't the organization's slug
 */
export async function deleteOrganization({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly confirmation: string }>): Promise<{ readonly id: string }> {
  const { organization: found } = await authorize(ctx, "organization.delete", { orgSlug: input.orgSlug });
  requireConfirmation(input.confirmation, found.slug);
  await ctx.db.transaction(async (tx) => {
    const projects = await tx.select({ id: project.id }).from(project).where(eq(project.organizationId, found.id));
    const ids = projects.map(({ id }) => id);
    await lockForDeletion(tx, ids);
    await enqueueLeaving(tx, ctx, ids, { deleted: true });
    // These refer to the organization without a foreign key.
    await tx.delete(apikey).where(eq(apikey.organizationId, found.id));
    await tx.update(session).set({ activeOrganizationId: null }).where(eq(session.activeOrganizationId, found.id));
    await tx.delete(organization).where(eq(organization.id, found.id));
    await audit(tx, ctx, { organizationId: null, action: "organization.delete", subject: found.slug });
  });
  return { id: found.id };
}
