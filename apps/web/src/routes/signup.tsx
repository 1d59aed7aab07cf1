import { createFileRoute } from "@tanstack/react-router";
import { redirectToProvider } from "~/features/sign-in/sign-in.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** AUTH-1: redirects at once to where accounts are made. */
export const Route = createFileRoute("/signup")({
  server: {
    handlers: { GET: withoutPermission("public", ({ request }) => redirectToProvider(request, { signUp: true })) },
  },
});
