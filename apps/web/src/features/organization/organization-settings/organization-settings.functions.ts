import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequestHeaders } from "@tanstack/react-start/server";
import { signWidgetToken } from "@towpath/auth/credentials";
import { describeStatusPage, setStatusPage } from "@towpath/core/projects/status-page";
import { deleteOrganization, getSessionAccess, updateOrganization } from "@towpath/core/tenancy/organization";
import { updateOrganizationSchema } from "@towpath/core/tenancy/organization/schema";
import { changeOrganizationPicture } from "@towpath/core/tenancy/picture";
import { pictureSchema } from "@towpath/core/tenancy/picture/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { organizationAccess, publicAccess } from "~/http/access.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { input } from "~/http/input.ts";

const deletionInput = z.object({ orgSlug: z.string(), confirmation: z.string().max(200) });

/** Deletes the organization with everything in it, for its owners (PRJ-11). */
export const removeOrganization = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.delete")])
  .validator(input(deletionInput))
  .handler(async ({ context, data }) => {
    await deleteOrganization({ ctx: context.ctx, input: data });
  });

/** Changes the organization's name and address (ORG-4). */
export const changeOrganization = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(updateOrganizationSchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => updateOrganization({ ctx: context.ctx, input: data }));

/** Changes or removes the organization's picture (ORG-4). */
export const saveOrganizationPicture = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(pictureSchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => changeOrganizationPicture({ ctx: context.ctx, input: data }));

const getStatusPageSetting = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(z.object({ orgSlug: z.string() })))
  .handler(({ context, data }) => describeStatusPage({ ctx: context.ctx, input: data }));

/** Whether the organization has a status page, and how many servers are on it. */
export const statusPageQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["status-page", orgSlug],
    queryFn: ({ signal }) => getStatusPageSetting({ data: { orgSlug }, signal }),
  });

/** Shows the organization's status page to everybody, or to nobody. */
export const saveStatusPage = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(z.object({ orgSlug: z.string(), isOn: z.boolean() })))
  .handler(({ context, data }) => setStatusPage({ ctx: context.ctx, input: data }));

type WidgetToken =
  | { readonly token: string; readonly expiresAt: string; readonly error: null }
  | { readonly token: null; readonly expiresAt: null; readonly error: string };

const none = (error: string): WidgetToken => ({ token: null, expiresAt: null, error });

/**
 * A token for widgets of the settings of the session's organization (ORG-5). Without a session it isn't refused but
 * null, with the reason, as specified.
 *
 * @public
 */
export const getWidgetToken = createServerFn({ method: "POST" })
  .middleware([publicAccess])
  .handler(async ({ context }): Promise<WidgetToken> => {
    const { signedIn } = context;
    if (!signedIn) return none("Not authenticated");
    const { user, activeOrganizationId: organizationId } = signedIn;
    const ctx = contextForUser(user.id, getRequestHeaders());
    const { activeOrganization, role, permissions } = await getSessionAccess({ ctx, input: { organizationId } });
    if (!activeOrganization || !role) return none("No organization");
    const of = { userId: user.id, organizationId: activeOrganization.orgId, role, permissions };
    const { token, expiresAt } = await signWidgetToken(services().signingKeys, of);
    return { token, expiresAt: expiresAt.toISOString(), error: null };
  });
