import { createFileRoute, redirect } from "@tanstack/react-router";
import { requireProfile } from "~/features/shared/session/guards.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

/** ONB-8: connect GitHub first, then choose a repository. GitHub may append `code`, which isn't used. */
export const Route = createFileRoute("/new/")({
  validateSearch: searchParameters({ code: text(200) }),
  beforeLoad: async (call) => {
    const { profile } = await requireProfile(call);
    const [first, ...more] = profile.githubInstallations;
    if (profile.githubUserId === null || !first) throw redirect({ to: "/new/github-install" });
    if (more.length > 0) throw redirect({ to: "/new/select-repo" });
    throw redirect({ to: "/new/select-repo", search: { installationId: first.installationId } });
  },
});
