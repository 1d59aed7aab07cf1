import type { QueryClient } from "@tanstack/react-query";
import { notFound, redirect, useRouteContext } from "@tanstack/react-router";
import { createIsomorphicFn } from "@tanstack/react-start";
import type { Permission } from "@towpath/core/authorize";
import { TowpathError } from "@towpath/core/errors";
import { isReservedSlug } from "@towpath/core/projects/reserved-names";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { activeOrganization, inOrganization } from "./destinations.ts";
import {
  currentAuthQuery,
  getSignInUrls,
  organizationQuery,
  profileQuery,
  syncOrganizationSession,
} from "./session.functions.ts";

// Guards only decide where to navigate. Each server function authorizes its own reads and writes.

/** The context of every route. */
export type RouterContext = { readonly queryClient: QueryClient };

type GuardInput = { readonly context: RouterContext; readonly location: { readonly href: string } };
type OrganizationGuardInput = GuardInput & {
  readonly params: { readonly orgSlug: string };
  readonly matches: readonly { readonly _notFound?: boolean | undefined }[];
};

/** Reloads the document, so that nothing cached from the ended session remains. */
async function toSignIn(returnTo: string) {
  const { signIn } = await getSignInUrls({ data: { returnTo } });
  return redirect({ href: signIn, reloadDocument: true });
}

/** Authenticated guard (AUTH-7): for `beforeLoad` of every page that requires sign-in. */
export async function requireProfile({ context, location }: GuardInput) {
  const auth = await context.queryClient.fetchQuery(currentAuthQuery);
  if (!auth) throw await toSignIn(location.href);
  try {
    const profile = await context.queryClient.fetchQuery(profileQuery);
    if (!profile) throw redirect({ to: "/" });
    return { auth, profile };
  } catch (error) {
    if (isTowpathErrorCode(error, "unauthenticated")) throw await toSignIn(location.href);
    throw error;
  }
}

/** For pages that are a step of the active organization, without its slug in the URL: the organization (ONB-9). */
export async function requireActiveOrganization(call: GuardInput) {
  const { auth, profile } = await requireProfile(call);
  const active = activeOrganization(profile.organizations, auth.organizationId);
  if (!active) throw redirect({ to: "/" });
  return { auth, profile, active };
}

/** Organization guard (AUTH-8). Also syncs the session with the organization shown (AUTH-5). */
export async function requireOrganization(call: OrganizationGuardInput) {
  const { context, location, params } = call;
  if (await isUnknownPage(call)) throw notFound();
  const known = context.queryClient.getQueryData(organizationQuery(params.orgSlug).queryKey);
  const { profile: own } = await requireProfile(call);
  // AUTH-8 is for newly opened addresses. A page that was open when the user was removed is refused.
  if (known && !own.organizations.some(({ id }) => id === known.id))
    throw new TowpathError("forbidden", "Forbidden: you are not a member of this organization");
  const { auth, profile, active } = await requireActiveOrganization(call);
  const organization = await context.queryClient.fetchQuery(organizationQuery(active.slug));
  if (auth.organizationId !== active.id) {
    const { role, permissions } = organization;
    const { id: orgId, slug: orgSlug, name: orgName, externalId } = active;
    await syncOrganizationSession({ data: { organizationId: orgId, externalId } }).catch(() => {});
    const activeOrganization = { orgId, orgSlug, orgName, externalId };
    context.queryClient.setQueryData(
      currentAuthQuery.queryKey,
      (known) => known && { ...known, organizationId: active.id, activeOrganization, role, permissions },
    );
  }
  if (params.orgSlug !== active.slug) throw redirect({ href: inOrganization(location.href, active.slug) });
  return { auth, profile, organization };
}

/**
 * Whether nobody can open the page, so that visitors aren't asked to sign in. Independent of whether an organization
 * has the slug, which visitors must not find out.
 */
async function isUnknownPage({ context: { queryClient }, params, matches }: OrganizationGuardInput) {
  const auth = await queryClient.fetchQuery(currentAuthQuery);
  if (!auth && matches.some(({ _notFound }) => _notFound)) return true;
  if (!isReservedPath(params.orgSlug)) return false;
  // Organizations keep a slug that was reserved later.
  const profile = auth && (await queryClient.fetchQuery(profileQuery));
  return profile?.organizations.every(({ slug }) => slug !== params.orgSlug) ?? true;
}

/**
 * Whether the user's role in this organization has a permission, to hide controls without it. Only for pages below
 * `/$orgSlug`. Server functions check again.
 */
export const useMay = (permission: Permission): boolean =>
  useRouteContext({ from: "/$orgSlug", select: ({ organization }) => organization.permissions.includes(permission) });

/**
 * Whether a first path segment, such as `robots.txt` or `blog`, can't be an organization's slug. Only the server has
 * the list; nothing in the app links to such a path.
 */
const isReservedPath = createIsomorphicFn()
  .server((segment: string) => isReservedSlug(segment) || !/^[a-z0-9-]+$/.test(segment))
  .client(() => false);
