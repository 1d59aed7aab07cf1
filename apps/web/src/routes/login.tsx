import { createFileRoute } from "@tanstack/react-router";
import { redirectToProvider } from "~/features/account/sign-in/sign-in.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** AUTH-1: redirects to the sign-in provider. `returnTo` is the path to return to. */
export const Route = createFileRoute("/login")({
  server: {
    handlers: { GET: withoutPermission("public", ({ request }) => redirectToProvider(request, { signUp: false })) },
  },
});
