import { createFileRoute } from "@tanstack/react-router";
import { signOut } from "~/features/account/sign-in/sign-in.server.ts";
import { SignOutPage } from "~/features/account/sign-in/sign-in-pages.tsx";
import { withoutPermission } from "~/http/access.ts";

/** AUTH-3: signs out at once, but asks first when another site links here. */
export const Route = createFileRoute("/logout")({
  server: {
    handlers: {
      GET: withoutPermission("self", async ({ request, next }) => (await signOut(request)) ?? next()),
      POST: withoutPermission("self", async ({ request, next }) => (await signOut(request)) ?? next()),
    },
  },
  head: () => ({ meta: [{ title: "Sign out · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: SignOutPage,
});
