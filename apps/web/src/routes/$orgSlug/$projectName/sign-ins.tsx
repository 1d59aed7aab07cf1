import { createFileRoute } from "@tanstack/react-router";
import { signInsQuery } from "~/features/project/sign-ins/sign-ins.functions.ts";
import { SignInsPage } from "~/features/project/sign-ins/sign-ins-page.tsx";

/** GW-5 */
export const Route = createFileRoute("/$orgSlug/$projectName/sign-ins")({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(signInsQuery(params)),
  head: ({ params }) => ({ meta: [{ title: `Sign-ins · ${params.projectName} · Towpath` }] }),
  component: SignIns,
});

function SignIns() {
  return <SignInsPage projectKey={Route.useParams()} />;
}
