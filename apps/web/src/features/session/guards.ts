import type { QueryClient } from "@tanstack/react-query";
import { redirect, useRouteContext } from "@tanstack/react-router";
import type { Permission } from "@towpath/core/authorize";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { activeOrganization, inOrganization, signInHref } from "./destinations.ts";
import { currentAuthQuery, organizationQuery, profileQuery, syncOrganizationSession } from "./session.functions.ts";

// Guards decide where to go. What may be read or done is decided by the server functions, each for itself.

/** What every route is given. */
export type RouterContext = { readonly queryClient: QueryClient };

type GuardInput = { readonly context: RouterContext; readonly location: { readonly href: string } };

/** Sign-in is a page of its own: leaving for it drops what the browser has cached of a session that has ended. */
const toSignIn = (href: string) => redirect({ href: signInHref(href), reloadDocument: true });

/** Authenticated guard (AUTH-7): for `beforeLoad` of every page that needs somebody signed in. */
export async function requireProfile({ context, location }: GuardInput) {
  const auth = await context.queryClient.ensureQueryData(currentAuthQuery);
  if (!auth) throw toSignIn(location.href);
  try {
    const profile = await context.queryClient.ensureQueryData(profileQuery);
    if (!profile) throw redirect({ to: "/" });
    return { auth, profile };
  } catch (error) {
    if (isTowpathErrorCode(error, "unauthenticated")) throw toSignIn(location.href);
    throw error;
  }
}

/** Organization guard (AUTH-8); also makes the session agree with what is shown (AUTH-5). */
export async function requireOrganization(call: GuardInput & { readonly params: { readonly orgSlug: string } }) {
  const { context, location, params } = call;
  const { auth, profile } = await requireProfile(call);
  const active = activeOrganization(profile.organizations, auth.organizationId);
  if (!active) throw redirect({ to: "/" });
  if (auth.organizationId !== active.id) {
    await syncOrganizationSession({ data: { orgSlug: active.slug } }).catch(() => {});
    context.queryClient.setQueryData(
      currentAuthQuery.queryKey,
      (known) => known && { ...known, organizationId: active.id },
    );
  }
  if (params.orgSlug !== active.slug) throw redirect({ href: inOrganization(location.href, active.slug) });
  const organization = await context.queryClient.ensureQueryData(organizationQuery(active.slug));
  return { auth, profile, organization };
}

/**
 * Whether the person's role in this organization allows something: what it doesn't is not offered. Works on pages below
 * `/$orgSlug`. The server functions check it again.
 */
export const useMay = (permission: Permission): boolean =>
  useRouteContext({ from: "/$orgSlug", select: ({ organization }) => organization.permissions.includes(permission) });
