import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequestHeaders } from "@tanstack/react-start/server";
import { listDefaultViews } from "@towpath/core/operations/saved-view";
import {
  getOrganizationAccess,
  getProfile as getProfileVerb,
  getSessionAccess,
  requireExternalId,
} from "@towpath/core/tenancy/organization";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { organizationAccess, organizationIdAccess, publicAccess, selfAccess } from "~/http/access.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import { accessMeta } from "./lost-access.ts";
import { signInUrl, startAtProvider } from "./session.server.ts";

/** The session: user, active organization, role and permissions there; null if signed out (AUTH-4, AUTH-12). */
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

/**
 * A profile by user id; null if it doesn't exist, or isn't the signed-in user's, which is logged (AUTH-7, AUTH-12).
 */
const getProfile = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .validator(input(z.object({ userId: z.uuid() })))
  .handler(async ({ context, data }) => {
    try {
      return await getProfileVerb({ ctx: context.ctx, input: data });
    } catch (error) {
      if (!isTowpathErrorCode(error, "not_found")) throw error;
      services().log.warn({ userId: data.userId }, "profile not found");
      return null;
    }
  });

const returnInput = z.object({ returnTo: z.string().max(8192).optional() });

/** URLs to sign in or up and then return to `returnTo`, a path of this site (AUTH-1, AUTH-7). */
export const getSignInUrls = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(returnInput))
  .handler(({ data }) => ({ signIn: signInUrl("/login", data.returnTo), signUp: signInUrl("/signup", data.returnTo) }));

/**
 * The provider's own URL, for a sign-in that this browser begins. POST, because it stores the state that the provider
 * must return, and sets its cookie.
 */
export const createAuthorizationUrl = createServerFn({ method: "POST" })
  .middleware([publicAccess])
  .validator(input(returnInput))
  .handler(({ data }) => startAtProvider(data, getRequestHeaders()));

const organizationInput = z.object({ orgSlug: z.string().min(1).max(100) });

/** The user's role and permissions in an organization (ORG-11), and with which views its lists open (CAP-7). */
const getOrganization = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(organizationInput))
  .handler(async ({ context, data }) => {
    const { ctx } = context;
    const access = getOrganizationAccess({ ctx, input: data });
    return { ...(await access), defaultViews: await listDefaultViews({ ctx, input: data }) };
  });

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
  .middleware([organizationIdAccess("organization.read")])
  .validator(input(z.object({ organizationId: z.uuid(), externalId: z.string().max(100) })))
  .handler(async ({ context, data }) => {
    requireExternalId(context.organization, data.externalId);
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
export const currentAuthQuery = queryOf(["auth", "current"], getCurrentAuth, undefined, cacheTimes.auth);

/** The session's role and permissions. Not cached, as an admin may change them at any time. */
export const roleAndPermissionsQuery = queryOptions({
  queryKey: ["auth", "role-and-permissions"],
  queryFn: ({ signal }) => getRoleAndPermissions({ signal }),
  ...cacheTimes.auth,
  staleTime: 0,
});

/** The signed-in user's own. Fresh 2 minutes (AUTH-9). Invalidate it after creating an organization, an installation or a project. */
export const profileQuery = queryOptions({
  queryKey: ["profile"],
  queryFn: async ({ client, signal }) => {
    const auth = await client.ensureQueryData(currentAuthQuery);
    return auth ? getProfile({ data: { userId: auth.user.id }, signal }) : null;
  },
  ...cacheTimes.profile,
  ...accessMeta,
});

/** Fresh 2 minutes, kept 5 (AUTH-9). */
export const organizationQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["organization", orgSlug],
    queryFn: ({ signal }) => getOrganization({ data: { orgSlug }, signal }),
    ...cacheTimes.organization,
    ...accessMeta,
  });
