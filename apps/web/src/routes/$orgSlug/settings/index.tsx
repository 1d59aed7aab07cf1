import { createFileRoute, redirect } from "@tanstack/react-router";

/** ORG-4: redirects to the first settings page. */
export const Route = createFileRoute("/$orgSlug/settings/")({
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/settings/profile", params });
  },
});
