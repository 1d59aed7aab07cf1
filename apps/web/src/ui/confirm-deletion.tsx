import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Failure } from "./callout.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Form, FormEnd } from "./form.tsx";
import { failureText } from "./toast.ts";

/** A delete button with a dialog that names what will be deleted and asks the user to type its name. */
export function ConfirmDeletion({
  label,
  name,
  description = "You can't undo this.",
  failed = "Nothing was deleted",
  children,
  onConfirm,
}: {
  /** Label of the button and title of the dialog, for example `Delete server`. */
  label: string;
  /** The text that the user must type. */
  name: string;
  description?: string;
  /** Title of the error that `onConfirm` rejects with. */
  failed?: string;
  /** What will be deleted. */
  children: ReactNode;
  /** Deletes and then leaves the page. Its rejection is shown in the dialog. */
  onConfirm: (confirmation: string) => Promise<void>;
}) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const show = (next: boolean) => {
    setOpen(next);
    setTyped("");
    setProblem(null);
    setFailure(null);
  };
  const confirm = async () => {
    if (typed !== name) return setProblem(`Type ${name} to confirm.`);
    setBusy(true);
    setFailure(null);
    try {
      await onConfirm(typed);
    } catch (error) {
      setFailure(failureText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onOpenChange={show}
      title={label}
      description={description}
      trigger={<Button variant="danger-quiet">{label}</Button>}
    >
      <Form aria-label={label} className="flex flex-col gap-4" onSubmit={() => void confirm()}>
        <div className="text-sm">{children}</div>
        <Failure title={failed}>{failure}</Failure>
        <TextField
          label={
            <>
              Type <code className="font-mono text-xs break-all">{name}</code> to confirm
            </>
          }
          error={problem}
          required
          mono
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(next) => {
            setTyped(next);
            setProblem(null);
          }}
        />
        <FormEnd busy={busy} submit={label} variant="danger" onCancel={() => show(false)} />
      </Form>
    </Dialog>
  );
}
