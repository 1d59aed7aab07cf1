import { createFileRoute } from "@tanstack/react-router";
import { InviteTeammatesPage } from "~/features/onboarding/welcome/invite-teammates-page.tsx";

/** ONB-7 */
export const Route = createFileRoute("/$orgSlug/welcome/invite-teammates")({
  head: () => ({ meta: [{ title: "Invite teammates · Towpath" }] }),
  component: InviteTeammates,
});

function InviteTeammates() {
  const { organization } = Route.useRouteContext();
  return <InviteTeammatesPage orgSlug={organization.slug} name={organization.name} />;
}
