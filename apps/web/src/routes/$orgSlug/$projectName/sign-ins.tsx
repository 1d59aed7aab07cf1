import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import {
  defaultSignInSearch,
  type SignInSearch,
  signInSearchParameters,
} from "~/features/project/sign-ins/sign-in-search.ts";
import { signInsQuery } from "~/features/project/sign-ins/sign-ins.functions.ts";
import { SignInsPage } from "~/features/project/sign-ins/sign-ins-page.tsx";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";

/** GW-5 */
export const Route = createFileRoute("/$orgSlug/$projectName/sign-ins")({
  validateSearch: signInSearchParameters,
  search: { middlewares: [stripSearchParams(defaultSignInSearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "sign-ins", signInSearchParameters),
  loader: ({ context, params }) => context.queryClient.ensureQueryData(signInsQuery(params)),
  head: ({ params }) => ({ meta: [{ title: `Sign-ins · ${params.projectName} · Towpath` }] }),
  component: SignIns,
});

function SignIns() {
  const navigate = Route.useNavigate();
  const change = (next: Partial<SignInSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  return <SignInsPage projectKey={Route.useParams()} search={Route.useSearch()} onSearch={change} />;
}
