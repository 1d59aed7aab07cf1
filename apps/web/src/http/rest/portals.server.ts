import type { Context } from "@towpath/core/context";
import { createPortal, getPortal, listPortals, updatePortal } from "@towpath/core/portal";
import type { createPortalSchema, updatePortalSchema } from "@towpath/core/portal/schema";
import type { z } from "zod";
import { operatorOrganization, operatorProject } from "./operator-route.server.ts";

/** The portals of an organization (ORG-3). */
export async function organizationPortals(ctx: Context, slug: string) {
  return listPortals({ ctx, input: { orgSlug: await operatorOrganization(ctx, slug) } });
}

/** Creates one. Its settings, and its end, are those of a project. */
export async function createOrganizationPortal(ctx: Context, slug: string, input: z.output<typeof createPortalSchema>) {
  return createPortal({ ctx, input: { ...input, orgSlug: await operatorOrganization(ctx, slug) } });
}

/** What a portal offers, and of which servers. */
export async function portalContents(ctx: Context, name: string) {
  const { id } = await operatorProject(ctx, name);
  return getPortal({ ctx, input: { projectId: id } });
}

/** Changes what is given of it. */
export async function changePortal(ctx: Context, name: string, input: z.output<typeof updatePortalSchema>) {
  const { id } = await operatorProject(ctx, name);
  return updatePortal({ ctx, input: { ...input, projectId: id } });
}
