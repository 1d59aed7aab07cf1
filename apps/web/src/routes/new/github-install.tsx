import { createFileRoute, redirect } from "@tanstack/react-router";
import { activeOrganization } from "~/features/session/destinations.ts";
import { requireProfile } from "~/features/session/guards.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

/** ONB-9: connecting GitHub is a step of the active organization. */
export const Route = createFileRoute("/new/github-install")({
  validateSearch: searchParameters({ problem: text(40) }),
  beforeLoad: async ({ context, location, search }) => {
    const { auth, profile } = await requireProfile({ context, location });
    const active = activeOrganization(profile.organizations, auth.organizationId);
    if (!active) throw redirect({ to: "/" });
    throw redirect({
      to: "/$orgSlug/welcome/connect-github",
      params: { orgSlug: active.slug },
      search: { success: false, ...search },
    });
  },
});
