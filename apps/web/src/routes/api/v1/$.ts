import { createFileRoute } from "@tanstack/react-router";
import { withoutPermission } from "~/http/access.ts";
import { restHandler } from "~/http/rest/rest-handler.server.ts";
import { restOperations } from "~/surfaces.server.ts";

const handle = restHandler(restOperations);

/** OPS-4: dispatches the operations of `surfaces.server.ts`, which name their permissions. */
export const Route = createFileRoute("/api/v1/$")({
  server: {
    handlers: {
      GET: withoutPermission("operation", handle),
      POST: withoutPermission("operation", handle),
      PUT: withoutPermission("operation", handle),
      PATCH: withoutPermission("operation", handle),
      DELETE: withoutPermission("operation", handle),
    },
  },
});
