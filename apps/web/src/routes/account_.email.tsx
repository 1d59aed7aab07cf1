import { createFileRoute } from "@tanstack/react-router";
import { linkedEmailQuery } from "~/features/account/account/account.functions.ts";
import { ConfirmEmailPage } from "~/features/account/account/confirm-email-page.tsx";
import { requireProfile } from "~/features/shared/session/guards.ts";
import { searchParameters, text, withDefault } from "~/http/search-parameters.ts";

/** The page of an email change's link, for the account that requested it (ORG-7). */
export const Route = createFileRoute("/account_/email")({
  validateSearch: searchParameters({ token: withDefault(text(100), "") }),
  beforeLoad: (call) => requireProfile(call),
  loaderDeps: ({ search }) => ({ token: search.token }),
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(linkedEmailQuery(deps.token)),
  head: () => ({
    meta: [
      { title: "Change your email · Towpath" },
      { name: "robots", content: "noindex" },
      // The address contains the token.
      { name: "referrer", content: "no-referrer" },
    ],
  }),
  component: ConfirmEmail,
});

function ConfirmEmail() {
  return <ConfirmEmailPage token={Route.useSearch().token} />;
}
