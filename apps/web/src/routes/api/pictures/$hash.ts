import { createFileRoute } from "@tanstack/react-router";
import { getPicture } from "@towpath/core/tenancy/picture";
import { withoutPermission } from "~/http/access.ts";
import { signedInContext } from "~/http/caller.server.ts";
import { respond } from "~/http/request.server.ts";

const headers = {
  // The address names the bytes. `private`: not everybody may see them.
  "cache-control": "private, max-age=31536000, immutable",
  // Uploads must not run or load anything, even when opened directly.
  "content-security-policy": "default-src 'none'; sandbox",
};

/** A picture by the hash of its bytes, for its owner and their colleagues (ORG-4). */
export const Route = createFileRoute("/api/pictures/$hash")({
  server: {
    handlers: {
      GET: withoutPermission("self", ({ request, params }) =>
        respond(request, async () => {
          const { ctx } = await signedInContext(request.headers);
          const { contentType, bytes } = await getPicture({ ctx, input: params });
          return new Response(new Uint8Array(bytes), { headers: { ...headers, "content-type": contentType } });
        }),
      ),
    },
  },
});
