import { createFileRoute } from "@tanstack/react-router";
import { offerQuery } from "~/features/account/invitations/invitation.functions.ts";
import { InvitationPage } from "~/features/account/invitations/invitation-page.tsx";
import { InvitationError } from "~/features/account/invitations/invitation-states.tsx";
import { searchParameters, text, withDefault } from "~/http/search-parameters.ts";

/** Where the link of an invitation leads, signed in or not (ORG-6). */
export const Route = createFileRoute("/invitations/$invitationId")({
  validateSearch: searchParameters({ token: withDefault(text(100), ""), email: text(254) }),
  loaderDeps: ({ search }) => ({ token: search.token }),
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureQueryData(offerQuery({ invitationId: params.invitationId, token: deps.token })),
  head: () => ({ meta: [{ title: "Invitation · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: Invitation,
  errorComponent: InvitationError,
});

function Invitation() {
  const { invitationId } = Route.useParams();
  const { token, email } = Route.useSearch();
  return <InvitationPage link={{ invitationId, token }} email={email} />;
}
