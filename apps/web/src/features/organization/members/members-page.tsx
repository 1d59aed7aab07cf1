import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { NoMembersDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { ListPending } from "~/ui/list-pending.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { InvitationTable } from "./invitation-table.tsx";
import { InviteForm } from "./invite-form.tsx";
import { type Invited, InvitedNotice } from "./invited-notice.tsx";
import { MemberTable } from "./member-table.tsx";
import { invitationsQuery, membersQuery } from "./members.functions.ts";
import { RoleMatrix } from "./role-matrix.tsx";

type Organization = { readonly slug: string; readonly name: string; readonly role: string };

type MembersPageProps = {
  readonly organization: Organization;
  readonly userId: string;
};

/** An organization's members, invitations, and permissions of each role (ORG-6). */
export function MembersPage({ organization, userId }: MembersPageProps) {
  const { slug: orgSlug, name } = organization;
  const mayManage = useMay("member.manage");
  const queryClient = useQueryClient();
  const { data: members } = useSuspenseQuery(membersQuery(orgSlug));
  const [invited, setInvited] = useState<Invited | null>(null);
  const onInvited = (result: Invited) => {
    setInvited(result);
    void queryClient.invalidateQueries({ queryKey: invitationsQuery(orgSlug).queryKey });
  };
  return (
    <Page
      description={`${members.length === 1 ? "1 person belongs" : `${members.length} people belong`} to ${name}.`}
      actions={mayManage ? <InviteDialog orgSlug={orgSlug} onInvited={onInvited} /> : null}
    >
      {invited ? <InvitedNotice invited={invited} onDismiss={() => setInvited(null)} /> : null}
      <Section title="Members">
        <MemberTable members={members} organization={organization} userId={userId} />
        {members.length === 1 && mayManage ? <NobodyElse orgSlug={orgSlug} /> : null}
      </Section>
      {mayManage ? <Invitations orgSlug={orgSlug} onSent={onInvited} /> : null}
      <Section title="What each role can do" description="A person has one role in each organization.">
        <RoleMatrix />
      </Section>
    </Page>
  );
}

/** Shown while the user is the only member and nobody is invited. */
function NobodyElse({ orgSlug }: { readonly orgSlug: string }) {
  const { data: invitations } = useSuspenseQuery(invitationsQuery(orgSlug));
  if (invitations.length > 0) return null;
  return (
    <div className="border-t">
      <EmptyState
        drawing={<NoMembersDrawing />}
        heading="h3"
        className="py-8"
        title="It's just you so far"
        docs={["roles", "Roles and permissions"]}
      >
        Invite the people you work with. They see the same servers. The table below shows what each role can do.
      </EmptyState>
    </div>
  );
}

function Invitations({ orgSlug, onSent }: { readonly orgSlug: string; readonly onSent: (result: Invited) => void }) {
  const { data: invitations } = useSuspenseQuery(invitationsQuery(orgSlug));
  return (
    <Section
      title="Invitations"
      description="Each link works once, within seven days, for an account with that email address."
    >
      {invitations.length === 0 ? (
        <p className="px-4 py-5 text-sm text-muted">No open invitations.</p>
      ) : (
        <InvitationTable invitations={invitations} orgSlug={orgSlug} onSent={onSent} />
      )}
    </Section>
  );
}

function Page(page: { readonly description?: ReactNode; readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="max-w-5xl">
      <PageHeader title="Members" description={page.description} actions={page.actions} />
      <div className="flex flex-col gap-7">{page.children}</div>
    </div>
  );
}

function Section(section: { readonly title: string; readonly description?: string; readonly children: ReactNode }) {
  return (
    <section aria-label={section.title}>
      <h2 className="text-lg font-semibold tracking-tight">{section.title}</h2>
      {section.description ? <p className="text-sm text-muted">{section.description}</p> : null}
      <div className="mt-2 overflow-hidden rounded-lg border bg-surface">{section.children}</div>
    </section>
  );
}

/** Skeleton of the page. */
export const MembersPending = () => (
  <Page>
    <ListPending rows={4} label="Loading members" />
  </Page>
);

/** The button that invites people, with its dialog. */
function InviteDialog(props: { readonly orgSlug: string; readonly onInvited: (result: Invited) => void }) {
  return (
    <Dialog
      title="Invite people"
      description="They get a link that works for seven days."
      trigger={
        <Button variant="primary" icon={<UserPlus />}>
          Invite people
        </Button>
      }
    >
      {(close) => (
        <InviteForm
          orgSlug={props.orgSlug}
          onInvited={(result) => {
            close();
            props.onInvited(result);
          }}
          others={<Button onClick={close}>Cancel</Button>}
        />
      )}
    </Dialog>
  );
}
