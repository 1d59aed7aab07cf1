import { useState } from "react";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { pathProblem } from "./draft.ts";

type PathDialogProps = {
  readonly open: boolean;
  /** Of the file to rename; null: a new one is made. */
  readonly from: string | null;
  /** Of the files there are. */
  readonly paths: readonly string[];
  readonly onClose: () => void;
  readonly onPath: (path: string) => void;
};

/** Asks for the path of a new or renamed file. */
export function PathDialog({ open, from, ...rest }: PathDialogProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && rest.onClose()}
      title={from === null ? "New file" : "Rename file"}
      description={from === null ? "It is in your changes until you commit them." : `Now ${from}.`}
    >
      <PathForm key={from} from={from} {...rest} />
    </Dialog>
  );
}

function PathForm({ from, paths, onClose, onPath }: Omit<PathDialogProps, "open">) {
  const [path, setPath] = useState(from ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = () => {
    const found = path.trim() === from ? null : pathProblem(path.trim(), paths);
    if (found !== null) return setProblem(found);
    if (path.trim() !== from) onPath(path.trim());
    onClose();
  };
  return (
    <Form className="flex flex-col gap-4" onSubmit={submit}>
      <TextField
        label="Path"
        hint="From the top of the repository; directories are made as needed."
        error={problem}
        mono
        required
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        value={path}
        onChange={(next) => {
          setPath(next);
          setProblem(null);
        }}
      />
      <FormEnd busy={false} submit={from === null ? "Create file" : "Rename"} onCancel={onClose} />
    </Form>
  );
}
