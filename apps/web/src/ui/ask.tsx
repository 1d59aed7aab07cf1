import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Failure } from "./callout.tsx";
import { Dialog } from "./dialog.tsx";
import type { FinalFocus } from "./dialog-popup.tsx";
import { failureText } from "./toast.ts";

/** A confirmation before an action. */
export type Question = {
  title: string;
  /** The action's effects. */
  description: ReactNode;
  /** The verb, for the button: "Remove member". */
  action: string;
  danger?: boolean;
  /** Its rejection is shown, and the dialog stays open. */
  run: () => Promise<unknown>;
};

type AskProps = {
  question: Question | null;
  onClose: () => void;
  finalFocus?: FinalFocus;
};

/** A dialog that asks `question` before running it; null: closed. */
export function Ask({ question, onClose, finalFocus }: AskProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const close = () => {
    setFailure(null);
    onClose();
  };
  const run = async () => {
    if (!question) return;
    setBusy(true);
    setFailure(null);
    try {
      await question.run();
      close();
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={question !== null}
      onOpenChange={(open) => !open && !busy && close()}
      title={question?.title ?? ""}
      description={question?.description}
      {...(finalFocus && { finalFocus })}
      footer={
        <>
          <Button onClick={close} disabled={busy}>
            Cancel
          </Button>
          <Button variant={question?.danger ? "danger" : "primary"} busy={busy} onClick={() => void run()}>
            {question?.action}
          </Button>
        </>
      }
    >
      <Failure>{failure}</Failure>
    </Dialog>
  );
}
