import { createFileRoute } from "@tanstack/react-router";
import { SignInProblem } from "~/features/account/sign-in/sign-in-pages.tsx";
import { searchParameters, text } from "~/http/search-parameters.ts";

export const Route = createFileRoute("/provider/problem")({
  validateSearch: searchParameters({ error: text(100) }),
  head: () => ({ meta: [{ title: "Sign-in problem · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: Problem,
});

function Problem() {
  return <SignInProblem error={Route.useSearch().error} />;
}
