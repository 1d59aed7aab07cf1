import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";

type DestructiveDialogProps = {
  /** The tool. */
  readonly name: string;
  /** Where it is called, if not on the version that the page is about. */
  readonly on?: string | undefined;
  readonly open: boolean;
  readonly onCancel: () => void;
  readonly onCall: () => void;
};

/** Asks before a tool is called that may delete or overwrite something. */
export function DestructiveDialog({ name, on, open, onCancel, onCall }: DestructiveDialogProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onCancel()}
      title={on === undefined ? `Call ${name}?` : `Call ${name} on ${on}?`}
      description="The server marks this tool as destructive: it may delete or overwrite something."
      footer={
        <>
          <Button onClick={onCancel}>Cancel</Button>
          <Button variant="danger" onClick={onCall}>
            Call tool
          </Button>
        </>
      }
    />
  );
}
