import { createFileRoute, redirect } from "@tanstack/react-router";

/** ORG-1 */
export const Route = createFileRoute("/$orgSlug/")({
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/servers", params });
  },
});
