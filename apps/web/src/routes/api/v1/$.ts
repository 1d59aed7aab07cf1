import { createFileRoute } from "@tanstack/react-router";
import { gitHubOperations } from "~/features/github/github-operations.server.ts";
import { passwordResetOperations } from "~/features/sign-in/password-reset-operation.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { restHandler } from "~/http/rest/rest-handler.server.ts";

const handle = restHandler([...passwordResetOperations, ...gitHubOperations]);

/** OPS-4: the table of operations in `http/rest` says what there is and who may use it. */
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
