import { createFileRoute } from "@tanstack/react-router";
import { z } from "zod";
import { SignInProblem } from "~/features/provider/sign-in-problem.tsx";

export const Route = createFileRoute("/provider/problem")({
  validateSearch: z.object({ error: z.string().max(100).optional().catch(undefined) }),
  head: () => ({ meta: [{ title: "Sign-in problem · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: Problem,
});

function Problem() {
  return <SignInProblem error={Route.useSearch().error} />;
}
