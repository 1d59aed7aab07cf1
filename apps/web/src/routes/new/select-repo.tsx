import { createFileRoute, redirect } from "@tanstack/react-router";
import { activeOrganization } from "~/features/session/destinations.ts";
import { requireProfile } from "~/features/session/guards.ts";
import { positiveInteger, searchParameters } from "~/http/search-parameters.ts";

/** ONB-9: choosing a repository is a step of the active organization. */
export const Route = createFileRoute("/new/select-repo")({
  validateSearch: searchParameters({ installationId: positiveInteger }),
  beforeLoad: async ({ context, location, search }) => {
    const { auth, profile } = await requireProfile({ context, location });
    const active = activeOrganization(profile.organizations, auth.organizationId);
    if (!active) throw redirect({ to: "/" });
    throw redirect({ to: "/$orgSlug/welcome/choose-repo", params: { orgSlug: active.slug }, search });
  },
});
