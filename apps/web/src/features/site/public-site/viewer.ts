import type { QueryClient } from "@tanstack/react-query";
import { activeOrganization } from "~/features/shared/session/destinations.ts";
import { currentAuthQuery, organizationQuery, profileQuery } from "~/features/shared/session/session.functions.ts";

/** The signed-in viewer of a public page, for the app's bar (PUB-3); null for visitors. */
export async function readViewer(queryClient: QueryClient) {
  const auth = await queryClient.fetchQuery(currentAuthQuery);
  const profile = auth && (await queryClient.fetchQuery(profileQuery));
  if (!profile) return null;
  const active = activeOrganization(profile.organizations, auth.organizationId);
  return { auth, profile, organization: active && (await queryClient.fetchQuery(organizationQuery(active.slug))) };
}
