import { queryOptions } from "@tanstack/react-query";
import { getCurrentAuth, getOrganization, getProfile } from "./session.functions.ts";

const minute = 60_000;

/** Fresh 5 minutes, kept 30 (AUTH-9). */
export const currentAuthQuery = queryOptions({
  queryKey: ["auth", "current"],
  queryFn: ({ signal }) => getCurrentAuth({ signal }),
  staleTime: 5 * minute,
  gcTime: 30 * minute,
});

/** Fresh 2 minutes (AUTH-9). Whoever creates an organization, an installation or a project must invalidate it. */
export const profileQuery = queryOptions({
  queryKey: ["profile"],
  queryFn: ({ signal }) => getProfile({ signal }),
  staleTime: 2 * minute,
});

/** Fresh 2 minutes, kept 5 (AUTH-9). */
export const organizationQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["organization", orgSlug],
    queryFn: ({ signal }) => getOrganization({ data: { orgSlug }, signal }),
    staleTime: 2 * minute,
    gcTime: 5 * minute,
  });
