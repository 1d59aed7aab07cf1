import { queryOptions } from "@tanstack/react-query";
import { cacheTimes } from "./cache-times.ts";
import { getCurrentAuth, getOrganization, getProfile } from "./session.functions.ts";

/** Fresh 5 minutes, kept 30 (AUTH-9). */
export const currentAuthQuery = queryOptions({
  queryKey: ["auth", "current"],
  queryFn: ({ signal }) => getCurrentAuth({ signal }),
  ...cacheTimes.auth,
});

/** Fresh 2 minutes (AUTH-9). Whoever creates an organization, an installation or a project must invalidate it. */
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
