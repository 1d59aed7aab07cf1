import { UserPlus } from "lucide-react";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { InviteForm } from "./invite-form.tsx";
import type { Invited } from "./invited-notice.tsx";

/** The button that invites people, with its dialog. */
export function InviteDialog(props: { readonly orgSlug: string; readonly onInvited: (result: Invited) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title="Invite people"
      description="They get a link that works for seven days."
      trigger={
        <Button variant="primary" icon={<UserPlus aria-hidden />}>
          Invite people
        </Button>
      }
    >
      <InviteForm
        orgSlug={props.orgSlug}
        onInvited={(result) => {
          setOpen(false);
          props.onInvited(result);
        }}
        others={<Button onClick={() => setOpen(false)}>Cancel</Button>}
      />
    </Dialog>
  );
}
