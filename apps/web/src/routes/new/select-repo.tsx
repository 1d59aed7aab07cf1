import { createFileRoute, redirect } from "@tanstack/react-router";
import { requireActiveOrganization } from "~/features/shared/session/guards.ts";
import { positiveInteger, searchParameters } from "~/http/search-parameters.ts";

/** ONB-9: choosing a repository is a step of the active organization. */
export const Route = createFileRoute("/new/select-repo")({
  validateSearch: searchParameters({ installationId: positiveInteger }),
  beforeLoad: async ({ context, location, search }) => {
    const { active } = await requireActiveOrganization({ context, location });
    throw redirect({ to: "/$orgSlug/welcome/choose-repo", params: { orgSlug: active.slug }, search });
  },
});
