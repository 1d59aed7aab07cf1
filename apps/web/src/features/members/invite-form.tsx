import { faultyAddresses, type InvitableRole, invitableRoles, splitAddresses } from "@towpath/core/invitation/schema";
import { roleSummaries } from "@towpath/core/member/schema";
import { type ReactNode, useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Field, Textarea } from "~/ui/field.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText } from "~/ui/toast.ts";
import type { Invited } from "./invited-notice.tsx";
import { invitePeople } from "./members.functions.ts";

const roleOptions = invitableRoles.map((role) => ({
  value: role,
  label: role.charAt(0).toUpperCase() + role.slice(1),
}));

/** Asks whom to invite, and with which role. */
export function InviteForm(props: {
  readonly orgSlug: string;
  readonly onInvited: (result: Invited) => void;
  /** Beside the button. */
  readonly others?: ReactNode;
}) {
  const { orgSlug, onInvited, others } = props;
  const [text, setText] = useState("");
  const [role, setRole] = useState<InvitableRole>("member");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const emails = splitAddresses(text);
  const submit = async () => {
    const faulty = faultyAddresses(emails);
    if (emails.length === 0) return setProblem("Enter at least one email address");
    if (faulty.length > 0) return setProblem(`${faulty.join(", ")}: not an email address`);
    setBusy(true);
    setProblem(null);
    try {
      onInvited(await invitePeople({ data: { orgSlug, emails: [...emails], role } }));
      setText("");
    } catch (error) {
      setProblem(isTowpathErrorCode(error, "invalid_input") ? error.message : failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field label="Email addresses" hint="Up to 20, separated by commas or new lines." error={problem}>
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            autoComplete="off"
            placeholder="grace@example.com, linus@example.com"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setProblem(null);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit();
            }}
          />
        )}
      </Field>
      <Field label="Role" hint={`${roleSummaries[role]}. You can change it later.`}>
        {(control) => <Select {...control} value={role} onChange={setRole} options={roleOptions} />}
      </Field>
      <div className="flex flex-wrap justify-end gap-2">
        {others}
        <Button type="submit" variant="primary" busy={busy}>
          {emails.length > 1 ? `Invite ${emails.length} people` : "Invite"}
        </Button>
      </div>
    </form>
  );
}
