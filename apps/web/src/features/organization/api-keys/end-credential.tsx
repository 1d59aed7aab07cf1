import { Ban, Ellipsis, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { toast } from "~/ui/toast.ts";

const words = {
  revoke: { loading: "Revoking", done: "revoked" },
  delete: { loading: "Deleting", done: "deleted" },
} as const;

type Ending = { readonly call: () => Promise<unknown>; readonly button: string; readonly description: string };

/** The menu that revokes or deletes what callers sign in with, each after a question. `onEnded`: also after a failure. */
export function EndCredential({
  name,
  isActive,
  onEnded,
  ...endings
}: {
  readonly name: string;
  readonly isActive: boolean;
  readonly revoke: Ending;
  readonly delete: Ending;
  readonly onEnded: () => Promise<unknown>;
}) {
  const [asked, setAsked] = useState<keyof typeof words | null>(null);
  const end = async (how: keyof typeof words) => {
    setAsked(null);
    const { loading, done } = words[how];
    await toast
      .promise(endings[how].call(), { loading, success: `${name} ${done}` })
      // The toast shows the error.
      .catch(() => {});
    await onEnded();
  };
  const ending = asked && endings[asked];
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${name}`} size="sm">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem icon={<Ban />} disabled={!isActive} onClick={() => setAsked("revoke")}>
          Revoke
        </MenuItem>
        <MenuItem danger icon={<Trash2 />} onClick={() => setAsked("delete")}>
          Delete
        </MenuItem>
      </Menu>
      <Dialog
        open={ending !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={ending ? `${ending.button} "${name}"?` : ""}
        description={ending?.description}
        footer={
          <>
            <Button onClick={() => setAsked(null)}>Cancel</Button>
            <Button variant="danger" onClick={() => asked && void end(asked)}>
              {ending?.button}
            </Button>
          </>
        }
      />
    </>
  );
}
