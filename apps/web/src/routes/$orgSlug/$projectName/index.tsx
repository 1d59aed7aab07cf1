import { createFileRoute, redirect } from "@tanstack/react-router";

export const Route = createFileRoute("/$orgSlug/$projectName/")({
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/$projectName/deployments", params, replace: true });
  },
});
