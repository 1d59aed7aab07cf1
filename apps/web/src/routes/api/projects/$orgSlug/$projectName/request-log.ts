import { createFileRoute } from "@tanstack/react-router";
import { logExport } from "~/features/project/request-log/log-export.server.ts";
import { withPermission } from "~/http/access.ts";
import { signedInContext } from "~/http/caller.server.ts";
import { respond } from "~/http/request.server.ts";

/** The export of the request log, for the page's links (PRJ-5). */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/request-log")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        (permission) =>
          ({ request, params }) =>
            respond(request, async () => {
              const { ctx } = await signedInContext(request.headers);
              return logExport(ctx, permission, params, new URL(request.url).searchParams);
            }),
      ),
    },
  },
});
