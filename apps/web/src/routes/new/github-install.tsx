import { createFileRoute, redirect } from "@tanstack/react-router";
import { requireActiveOrganization } from "~/features/shared/session/guards.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

/** ONB-9: connecting GitHub is a step of the active organization. */
export const Route = createFileRoute("/new/github-install")({
  validateSearch: searchParameters({ problem: text(40) }),
  beforeLoad: async ({ context, location, search }) => {
    const { active } = await requireActiveOrganization({ context, location });
    throw redirect({
      to: "/$orgSlug/welcome/connect-github",
      params: { orgSlug: active.slug },
      search: { success: false, ...search },
    });
  },
});
