import {
  faultyAddresses,
  type InvitableRole,
  invitableRoles,
  splitAddresses,
} from "@towpath/core/tenancy/invitation/schema";
import { roleSummaries } from "@towpath/core/tenancy/member/schema";
import { type ReactNode, useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { TextareaField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { SelectField } from "~/ui/select.tsx";
import type { Invited } from "./invited-notice.tsx";
import { invitePeople } from "./members.functions.ts";

const roleOptions = invitableRoles.map((role) => ({
  value: role,
  label: role.charAt(0).toUpperCase() + role.slice(1),
}));

/** Asks for people to invite and their role. */
export function InviteForm(props: {
  readonly orgSlug: string;
  readonly onInvited: (result: Invited) => void;
  /** Beside the button. */
  readonly others?: ReactNode;
}) {
  const { orgSlug, onInvited, others } = props;
  const [text, setText] = useState("");
  const [role, setRole] = useState<InvitableRole>("member");
  const { problem, busy, run, refuse, clear } = useSubmit();
  const emails = splitAddresses(text);
  const submit = async () => {
    const faulty = faultyAddresses(emails);
    if (emails.length === 0) return refuse({ emails: "Enter at least one email address" });
    if (faulty.length > 0) return refuse({ emails: `${faulty.join(", ")}: not an email address` });
    await run(async () => {
      onInvited(await invitePeople({ data: { orgSlug, emails: [...emails], role } }));
      setText("");
    });
  };
  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void submit()}>
      <TextareaField
        label="Email addresses"
        hint="Up to 20, separated by commas or new lines."
        error={problem}
        rows={3}
        autoComplete="off"
        placeholder="grace@example.com, linus@example.com"
        value={text}
        onChange={(next) => {
          setText(next);
          clear();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit();
        }}
      />
      <SelectField
        label="Role"
        hint={`${roleSummaries[role]}. You can change it later.`}
        value={role}
        onChange={setRole}
        options={roleOptions}
      />
      <div className="flex flex-wrap justify-end gap-2">
        {others}
        <Button type="submit" variant="primary" busy={busy}>
          {emails.length > 1 ? `Invite ${emails.length} people` : "Invite"}
        </Button>
      </div>
    </Form>
  );
}
