import { createFileRoute } from "@tanstack/react-router";
import { currentAuthQuery } from "~/features/session/session.queries.ts";

export const Route = createFileRoute("/")({
  loader: ({ context }) => context.queryClient.ensureQueryData(currentAuthQuery),
  component: Home,
});

function Home() {
  return <main>Towpath</main>;
}
