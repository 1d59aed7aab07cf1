import { createFileRoute } from "@tanstack/react-router";
import { signOut } from "~/features/sign-in/sign-in.server.ts";
import { SignOutPage } from "~/features/sign-in/sign-in-pages.tsx";

/** AUTH-3. A visit from one of our pages, or typed by hand, signs out at once; one from another site only asks. */
export const Route = createFileRoute("/logout")({
  server: {
    handlers: {
      GET: async ({ request, next }) => (await signOut(request)) ?? next(),
      POST: async ({ request, next }) => (await signOut(request)) ?? next(),
    },
  },
  head: () => ({ meta: [{ title: "Sign out · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: SignOutPage,
});
