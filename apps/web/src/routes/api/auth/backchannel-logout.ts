import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { readBody, respond } from "~/http/request.server.ts";

const maxBytes = 16_384;

/** The issuer's notification that a session ended (OpenID Connect Back-Channel Logout 1.0, section 2.5; AUTH-3). */
export const Route = createFileRoute("/api/auth/backchannel-logout")({
  server: {
    handlers: {
      POST: withoutPermission("signature", ({ request }) =>
        respond(request, async () => {
          const form = new URLSearchParams(new TextDecoder().decode(await readBody(request, maxBytes)));
          const ended = await services().auth.backChannelLogout(form.get("logout_token") ?? "");
          return ended === null
            ? Response.json({ error: "invalid_request" }, { status: 400 })
            : new Response(null, { status: 200 });
        }),
      ),
    },
  },
});
