import { secretValueSchema } from "@towpath/core/secret/schema";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { failureText } from "~/ui/toast.ts";
import { Noted, ValueControl } from "../onboarding/variable-fields.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { saveVariables } from "./settings.functions.ts";

/** Asks for another value of a variable; the one that is stored is not shown. */
export function ReplaceVariable({
  projectKey,
  keyName,
  onReplaced,
}: {
  projectKey: ProjectKey;
  keyName: string;
  onReplaced: () => Promise<void>;
}) {
  const [open, setOpen] = useState(false);
  const [secretValue, setValue] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const show = (next: boolean) => {
    setOpen(next);
    setValue("");
    setProblem(null);
  };
  const replace = async () => {
    const faulty = secretValueSchema.safeParse(secretValue).error?.issues[0]?.message;
    if (faulty) return setProblem(faulty);
    setBusy(true);
    try {
      await saveVariables({ data: { ...projectKey, secrets: [{ keyName, secretValue }] } });
      show(false);
      await onReplaced();
    } catch (error) {
      setProblem(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onOpenChange={show}
      title={`Replace ${keyName}`}
      description="A running server keeps the old value until the next deployment or restart."
      trigger={
        <Button size="sm" aria-label={`Replace ${keyName}`}>
          Replace
        </Button>
      }
    >
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void replace();
        }}
      >
        <Noted problem={problem}>
          {(control) => (
            <ValueControl
              control={control}
              called={keyName}
              value={secretValue}
              onChange={(value) => {
                setValue(value);
                setProblem(null);
              }}
            />
          )}
        </Noted>
        <div className="flex justify-end gap-2">
          <Button onClick={() => show(false)}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>
            Replace value
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
