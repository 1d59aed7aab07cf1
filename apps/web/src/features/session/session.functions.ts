import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequestHeaders } from "@tanstack/react-start/server";
import { getOrganizationAccess, getProfile as getProfileVerb, getSessionAccess } from "@towpath/core/organization";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { organizationAccess, publicAccess, selfAccess } from "~/http/access.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { input } from "~/http/input.ts";

/** The session: user, active organization, role and permissions there; null when nobody is signed in (AUTH-4, AUTH-12). */
const getCurrentAuth = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .handler(async ({ context }) => {
    const { signedIn } = context;
    if (!signedIn) return null;
    const { user, activeOrganizationId: organizationId } = signedIn;
    const ctx = contextForUser(user.id, getRequestHeaders());
    return { user, organizationId, ...(await getSessionAccess({ ctx, input: { organizationId } })) };
  });

/** Only the session's role and permissions, as they are now (AUTH-4). */
const getRoleAndPermissions = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) =>
    getSessionAccess({ ctx: context.ctx, input: { organizationId: context.signedIn.activeOrganizationId } }),
  );

/** The signed-in user's profile; null when the account is gone, which is logged (AUTH-7). */
const getProfile = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(async ({ context }) => {
    try {
      return await getProfileVerb({ ctx: context.ctx });
    } catch (error) {
      if (!isTowpathErrorCode(error, "not_found")) throw error;
      services().log.warn({ userId: context.signedIn.user.id }, "profile not found");
      return null;
    }
  });

const organizationInput = z.object({ orgSlug: z.string().min(1).max(100) });

/** The user's role and permissions in an organization (ORG-11). */
const getOrganization = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => getOrganizationAccess({ ctx: context.ctx, input: data }));

/** Sets the session's organization to the user's choice (AUTH-6). */
export const switchOrganization = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(organizationInput))
  .handler(async ({ context }) => {
    await services().auth.setActiveOrganization(context.signedIn.sessionId, context.organization.id);
    return { organizationId: context.organization.id };
  });

/**
 * The same for the guard (AUTH-5). A failure must not block the page: the guard ignores it, and the global middleware
 * logs it.
 */
export const syncOrganizationSession = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(organizationInput))
  .handler(async ({ context }) => {
    await services().auth.setActiveOrganization(context.signedIn.sessionId, context.organization.id);
  });

const minute = 60_000;

/** Cache times of session data, in milliseconds (AUTH-9). */
const cacheTimes = {
  auth: { staleTime: 5 * minute, gcTime: 30 * minute },
  profile: { staleTime: 2 * minute },
  organization: { staleTime: 2 * minute, gcTime: 5 * minute },
} as const;

/** Fresh 5 minutes, kept 30 (AUTH-9). */
export const currentAuthQuery = queryOptions({
  queryKey: ["auth", "current"],
  queryFn: ({ signal }) => getCurrentAuth({ signal }),
  ...cacheTimes.auth,
});

/** The session's role and permissions, which an admin may change at any time: read anew for each page that shows them. */
export const roleAndPermissionsQuery = queryOptions({
  queryKey: ["auth", "role-and-permissions"],
  queryFn: ({ signal }) => getRoleAndPermissions({ signal }),
  ...{ ...cacheTimes.auth, staleTime: 0 },
});

/** Fresh 2 minutes (AUTH-9). Invalidate it after creating an organization, an installation or a project. */
export const profileQuery = queryOptions({
  queryKey: ["profile"],
  queryFn: ({ signal }) => getProfile({ signal }),
  ...cacheTimes.profile,
});

/** Fresh 2 minutes, kept 5 (AUTH-9). */
export const organizationQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["organization", orgSlug],
    queryFn: ({ signal }) => getOrganization({ data: { orgSlug }, signal }),
    ...cacheTimes.organization,
  });
