import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { gitProxy } from "~/http/forge-git.server.ts";

/** OPS-4: Git pushes with an API key. */
export const Route = createFileRoute("/api/git/$orgSlug/$repository/$")({
  server: {
    handlers: {
      GET: withPermission(
        "build.start",
        () =>
          ({ request, params }) =>
            gitProxy(request, params),
      ),
      POST: withPermission(
        "build.start",
        () =>
          ({ request, params }) =>
            gitProxy(request, params),
      ),
    },
  },
});
