import { createFileRoute, redirect } from "@tanstack/react-router";
import { requireActiveOrganization } from "~/features/shared/session/guards.ts";
import { flag, positiveInteger, searchParameters, text, withDefault } from "~/http/search-parameters.ts";

const validateSearch = searchParameters({
  repoName: withDefault(text(255), ""),
  installationId: positiveInteger,
  isPrivate: flag,
  entrypoint: text(200),
});

/** ONB-9: the form that deploys a repository is a step of the active organization. */
export const Route = createFileRoute("/new/import-project")({
  validateSearch,
  beforeLoad: async ({ context, location, search }) => {
    const { active } = await requireActiveOrganization({ context, location });
    throw redirect({ to: "/$orgSlug/welcome/server-deploy", params: { orgSlug: active.slug }, search });
  },
});
