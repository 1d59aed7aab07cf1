import { organization, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";

/** `servers`: how many of the organization are public, and therefore on the page. */
type StatusPageView = { readonly isOn: boolean; readonly servers: number };

/** Whether an organization has a status page. */
export async function describeStatusPage({ ctx, input }: Call<{ readonly orgSlug: string }>): Promise<StatusPageView> {
  const { organization: found } = await authorize(ctx, "organization.manage", input);
  const isOfOrganization = eq(project.organizationId, found.id);
  const [[row], servers] = await Promise.all([
    ctx.db.select({ isOn: organization.hasStatusPage }).from(organization).where(eq(organization.id, found.id)),
    ctx.db.$count(project, and(isOfOrganization, project.isPublic)),
  ]);
  return { isOn: row?.isOn ?? false, servers };
}

/** Shows the status page to everybody, or to nobody. */
export async function setStatusPage({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly isOn: boolean }>): Promise<void> {
  const { organization: found } = await authorize(ctx, "organization.manage", input);
  await ctx.db.transaction(async (tx) => {
    const changed = await tx
      .update(organization)
      .set({ hasStatusPage: input.isOn })
      .where(and(eq(organization.id, found.id), eq(organization.hasStatusPage, !input.isOn)))
      .returning({ id: organization.id });
    if (changed.length === 0) return;
    await audit(tx, ctx, {
      organizationId: found.id,
      action: "organization.status-page",
      subject: found.id,
      detail: { isOn: input.isOn },
    });
  });
}
