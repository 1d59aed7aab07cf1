import { createFileRoute } from "@tanstack/react-router";
import { invitationsQuery, membersQuery } from "~/features/organization/members/members.functions.ts";
import { MembersPage, MembersPending } from "~/features/organization/members/members-page.tsx";

/** ORG-6 */
export const Route = createFileRoute("/$orgSlug/settings/members")({
  loader: async ({ context, params }) => {
    const mayManage = context.organization.permissions.includes("member.manage");
    await Promise.all([
      context.queryClient.ensureQueryData(membersQuery(params.orgSlug)),
      mayManage && context.queryClient.ensureQueryData(invitationsQuery(params.orgSlug)),
    ]);
  },
  head: () => ({ meta: [{ title: "Members · Towpath" }] }),
  component: Members,
  pendingComponent: MembersPending,
});

function Members() {
  const { organization, profile } = Route.useRouteContext();
  return <MembersPage organization={organization} userId={profile.id} />;
}
