import { createFileRoute } from "@tanstack/react-router";
import type { RefusedForm } from "~/features/account/sign-in/credentials.schema.ts";
import { resetAccount, submitNewPassword } from "~/features/account/sign-in/password-reset.server.ts";
import { ResetPasswordPage } from "~/features/account/sign-in/reset-pages.tsx";
import { redirectIfExternal } from "~/features/account/sign-in/sign-in.server.ts";
import { withoutPermission } from "~/http/access.ts";

type Shown = { readonly refused: RefusedForm | null; readonly isDone: boolean; readonly email: string | null };

const tokenOf = (request: Request) => new URL(request.url).searchParams.get("token") ?? undefined;

/** A link that sets a new password. Opening it uses nothing up: mail programs open links before people do. */
export const Route = createFileRoute("/provider/reset-password")({
  server: {
    handlers: {
      GET: withoutPermission("public", async ({ request, next }) => {
        const elsewhere = redirectIfExternal("sign-in");
        if (elsewhere) return elsewhere;
        return next({
          context: { shown: { refused: null, isDone: false, email: await resetAccount(tokenOf(request)) } },
        });
      }),
      POST: withoutPermission("public", async ({ request, next }) => {
        const answer = await submitNewPassword(request);
        if (answer instanceof Response) return answer;
        return next({ context: { shown: { ...answer, email: await resetAccount(tokenOf(request)) } } });
      }),
    },
  },
  loader: ({ serverContext }) => (serverContext as { shown?: Shown } | undefined)?.shown ?? nothing,
  head: () => ({
    meta: [
      { title: "Set a new password · Towpath" },
      { name: "robots", content: "noindex" },
      // The address contains the token.
      { name: "referrer", content: "no-referrer" },
    ],
  }),
  component: ResetPassword,
});

const nothing: Shown = { refused: null, isDone: false, email: null };

function ResetPassword() {
  const { refused, isDone, email } = Route.useLoaderData();
  return <ResetPasswordPage email={email} isDone={isDone} refused={refused} />;
}
