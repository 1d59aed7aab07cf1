import { createFileRoute } from "@tanstack/react-router";
import { redirectToProvider } from "~/features/account/sign-in/sign-in.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** AUTH-1: redirects to the sign-up page of the sign-in provider. */
export const Route = createFileRoute("/signup")({
  server: {
    handlers: { GET: withoutPermission("public", ({ request }) => redirectToProvider(request, { signUp: true })) },
  },
});
