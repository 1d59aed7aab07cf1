import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** Health check: 503 while the database can't be reached, otherwise 200. */
export const Route = createFileRoute("/healthz")({
  server: {
    handlers: {
      GET: withoutPermission("public", async () => {
        const ok = await services()
          .database.pool.query("SELECT 1")
          .then(
            () => true,
            () => false,
          );
        return Response.json({ ok }, { status: ok ? 200 : 503 });
      }),
    },
  },
});
