import { createFileRoute, redirect } from "@tanstack/react-router";
import { z } from "zod";
import { requireProfile } from "~/features/session/guards.ts";

/** ONB-8: GitHub first, then the repository. `code` is what GitHub may append; it is not needed here. */
export const Route = createFileRoute("/new/")({
  validateSearch: z.object({ code: z.string().max(200).optional().catch(undefined) }),
  beforeLoad: async (call) => {
    const { profile } = await requireProfile(call);
    const [first, ...more] = profile.githubInstallations;
    if (profile.githubUserId === null || !first) throw redirect({ to: "/new/github-install" });
    if (more.length > 0) throw redirect({ to: "/new/select-repo" });
    throw redirect({ to: "/new/select-repo", search: { installationId: first.installationId } });
  },
});
