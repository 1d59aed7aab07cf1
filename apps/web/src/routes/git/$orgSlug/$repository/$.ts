import { createFileRoute } from "@tanstack/react-router";
import { serveGitRepository } from "~/features/onboarding/source/repository.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** SRC-3: repositories of this instance, for git's clients. A push also needs `build.start`. */
export const Route = createFileRoute("/git/$orgSlug/$repository/$")({
  server: {
    handlers: {
      GET: withPermission("project.read", serveGitRepository),
      POST: withPermission("project.read", serveGitRepository),
    },
  },
});
