import { createFileRoute, redirect } from "@tanstack/react-router";

/** ORG-4: the first of the settings that there are. */
export const Route = createFileRoute("/$orgSlug/settings/")({
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/settings/api-keys", params });
  },
});
