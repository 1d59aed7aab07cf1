import { useQueryClient } from "@tanstack/react-query";
import type { MemberView } from "@towpath/core/tenancy/member";
import { roleNames, roleSummaries } from "@towpath/core/tenancy/member/schema";
import { Ellipsis, LogOut, UserMinus } from "lucide-react";
import { useState } from "react";
import { useMay } from "~/features/shared/session/guards.ts";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Avatar } from "~/ui/avatar.tsx";
import { Badge } from "~/ui/badge.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { changeRole, leaveOrganization, membersQuery } from "./members.functions.ts";
import { membershipEnd, RemoveMemberDialog } from "./remove-member-dialog.tsx";

type Role = MemberView["role"];
type Organization = { readonly slug: string; readonly name: string; readonly role: string };

/** The members with their roles, which owners and admins can change here. */
export function MemberTable(props: {
  readonly members: readonly MemberView[];
  readonly organization: Organization;
  readonly userId: string;
}) {
  const { members, organization, userId } = props;
  const [question, setQuestion] = useState<Question | null>(null);
  const [removed, setRemoved] = useState<MemberView | null>(null);
  const mayManage = useMay("member.manage");
  const isOwner = organization.role === "owner";
  const owners = members.filter(({ role }) => role === "owner").length;
  const change = useRoleChange(organization, userId, setQuestion);
  const isLastOwner = ({ role }: MemberView) => role === "owner" && owners === 1;
  const isSelf = (member: MemberView) => member.userId === userId;
  const mayChange = (member: MemberView) => mayManage && !isLastOwner(member) && (isOwner || member.role !== "owner");
  const columns: readonly Column<MemberView>[] = [
    leadColumn("Person", ({ name }) => name, { cell: (each) => <Person member={each} isSelf={isSelf(each)} /> }),
    {
      name: "Role",
      by: ({ role }) => roleNames.indexOf(role),
      cell: (member) =>
        mayChange(member) ? (
          <RoleSelect member={member} mayMakeOwner={isOwner} onChange={(role) => change(member, role)} />
        ) : (
          <span className="capitalize" title={isLastOwner(member) ? "An organization needs an owner." : undefined}>
            {member.role}
          </span>
        ),
    },
    timeColumn("Joined", ({ joinedAt }) => joinedAt),
    timeColumn("Last active", ({ lastActiveAt }) => lastActiveAt, { none: "–" }),
    actionsColumn(
      (member) =>
        isSelf(member) || mayChange(member) ? (
          <MemberActions
            member={member}
            organization={organization}
            isSelf={isSelf(member)}
            isLastOwner={isLastOwner(member)}
            ask={setQuestion}
            remove={() => setRemoved(member)}
          />
        ) : null,
      { wide: false },
    ),
  ];
  return (
    <>
      <DataTable label="Members" rows={members} keyOf={(member) => member.userId} columns={columns} />
      <Ask question={question} onClose={() => setQuestion(null)} />
      {removed ? (
        <RemoveMemberDialog member={removed} organization={organization} onClose={() => setRemoved(null)} />
      ) : null}
    </>
  );
}

function Person({ member, isSelf }: { readonly member: MemberView; readonly isSelf: boolean }) {
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <Avatar name={member.name} picture={member.profilePictureUrl} />
      <span className="min-w-0">
        <span className="flex items-center gap-1.5 font-medium">
          <span className="truncate">{member.name}</span>
          {isSelf ? <Badge>You</Badge> : null}
        </span>
        <span className="block truncate text-xs text-muted">{member.email}</span>
      </span>
    </span>
  );
}

function RoleSelect(props: {
  readonly member: MemberView;
  readonly mayMakeOwner: boolean;
  readonly onChange: (role: Role) => void;
}) {
  const { member, mayMakeOwner, onChange } = props;
  const options = roleNames
    .filter((role) => role !== "owner" || mayMakeOwner)
    .map((role) => ({ value: role, label: capitalized(role), detail: roleSummaries[role] }));
  return (
    <Select
      aria-label={`Role of ${member.name}`}
      className="w-28"
      value={member.role}
      options={options}
      onChange={(role) => role !== member.role && onChange(role)}
    />
  );
}

/** Changes a role at once, or asks first where it is hard to undo: for owners and for the user's own role. */
function useRoleChange(organization: Organization, userId: string, ask: (question: Question) => void) {
  const queryClient = useQueryClient();
  const { slug: orgSlug, name } = organization;
  const save = async (member: MemberView, role: Role) => {
    await changeRole({ data: { orgSlug, userId: member.userId, role } });
    if (member.userId === userId) return window.location.reload();
    await queryClient.invalidateQueries({ queryKey: membersQuery(orgSlug).queryKey });
    toast.success(`${member.name} is now ${role === "owner" || role === "admin" ? "an" : "a"} ${role}`);
  };
  return (member: MemberView, role: Role) => {
    const run = () => save(member, role);
    if (member.userId === userId) {
      const description = `You lose what only ${member.role}s of ${name} may do, and can't give it back to yourself.`;
      return ask({ title: `Change your own role to ${role}?`, description, action: "Change my role", run });
    }
    if (role === "owner") {
      const description = "Owners can do everything, including removing you and deleting the organization.";
      return ask({ title: `Make ${member.name} an owner?`, description, action: "Make owner", run });
    }
    void run().catch((error: unknown) => toast.error(failureText(error)));
  };
}

function MemberActions(props: {
  readonly member: MemberView;
  readonly organization: Organization;
  readonly isSelf: boolean;
  readonly isLastOwner: boolean;
  readonly ask: (question: Question) => void;
  readonly remove: () => void;
}) {
  const { member, organization, isSelf, isLastOwner, ask, remove } = props;
  const { slug: orgSlug, name } = organization;
  const leave = async () => {
    await leaveOrganization({ data: { orgSlug } });
    // Load a new document, so that nothing of this organization stays in memory.
    window.location.replace("/");
  };
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${member.name}`} size="sm">
          <Ellipsis />
        </IconButton>
      }
    >
      {isSelf ? (
        <MenuItem
          danger
          icon={<LogOut />}
          disabled={isLastOwner}
          onClick={() =>
            ask({
              title: `Leave ${name}?`,
              action: "Leave organization",
              danger: true,
              run: leave,
              description: `Your access ends now. ${membershipEnd} To come back, you need a new invitation.`,
            })
          }
        >
          {isLastOwner ? "Leave (an organization needs an owner)" : "Leave organization"}
        </MenuItem>
      ) : (
        <MenuItem danger icon={<UserMinus />} onClick={remove}>
          Remove from organization
        </MenuItem>
      )}
    </Menu>
  );
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
