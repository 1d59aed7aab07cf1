import { createFileRoute } from "@tanstack/react-router";
import type { RefusedForm } from "~/features/account/sign-in/credentials.schema.ts";
import { requestPasswordReset, sendsMail } from "~/features/account/sign-in/password-reset.server.ts";
import { ForgotPasswordPage } from "~/features/account/sign-in/reset-pages.tsx";
import { redirectIfExternal } from "~/features/account/sign-in/sign-in.server.ts";
import { withoutPermission } from "~/http/access.ts";

type Shown = { readonly refused: RefusedForm | null; readonly isDone: boolean; readonly sendsMail: boolean };

export const Route = createFileRoute("/provider/forgot-password")({
  server: {
    handlers: {
      GET: withoutPermission(
        "public",
        ({ next }) =>
          redirectIfExternal("sign-in") ??
          next({ context: { shown: { refused: null, isDone: false, sendsMail: sendsMail() } } }),
      ),
      POST: withoutPermission("public", async ({ request, next }) => {
        const answer = await requestPasswordReset(request);
        if (answer instanceof Response) return answer;
        return next({ context: { shown: { ...answer, sendsMail: sendsMail() } } });
      }),
    },
  },
  // Only from the server: links to this page load a new document.
  loader: ({ serverContext }) => (serverContext as { shown?: Shown } | undefined)?.shown ?? nothing,
  head: () => ({ meta: [{ title: "Forgot your password? · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: ForgotPassword,
});

const nothing: Shown = { refused: null, isDone: false, sendsMail: false };

function ForgotPassword() {
  const { refused, isDone, sendsMail: hasMail } = Route.useLoaderData();
  return <ForgotPasswordPage sendsMail={hasMail} isSent={isDone} refused={refused} />;
}
