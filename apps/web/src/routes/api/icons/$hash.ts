import { createFileRoute } from "@tanstack/react-router";
import { getServerIcon } from "@towpath/core/projects/server-icon";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

const headers = {
  // The address names the bytes.
  "cache-control": "public, max-age=31536000, immutable",
  // What a server names must not run or load anything, even when opened directly.
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
};

/** A server's own icon by the hash of its bytes (CAP-7). */
export const Route = createFileRoute("/api/icons/$hash")({
  server: {
    handlers: {
      GET: withoutPermission("public", ({ request, params }) =>
        respond(request, async () => {
          const { contentType, bytes } = await getServerIcon({ ctx: { db: services().database.db }, input: params });
          return new Response(new Uint8Array(bytes), { headers: { ...headers, "content-type": contentType } });
        }),
      ),
    },
  },
});
