import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { TextareaField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";

const maxLength = 1000;

type QuestionFormProps = {
  readonly label: string;
  /** Text of the button. */
  readonly submit: string;
  readonly initial: string;
  readonly others: readonly string[];
  readonly busy: boolean;
  /** Returns whether it was saved. */
  readonly save: (text: string) => Promise<boolean>;
  readonly onCancel?: () => void;
};

/** One question, new or changed. */
export function QuestionForm({ label, submit, initial, others, busy, save, onCancel }: QuestionFormProps) {
  const [text, setText] = useState(initial);
  const [isTried, setIsTried] = useState(false);
  const problem = problemOf(text.trim(), others);
  const onSubmit = async () => {
    setIsTried(problem !== null);
    if (problem === null && !busy && (await save(text.trim()))) setText("");
  };
  return (
    <Form aria-label={label} className="flex min-w-0 flex-1 flex-col gap-2" onSubmit={onSubmit}>
      <UnsavedChanges when={text.trim() !== initial && !busy} what="questions" />
      <TextareaField
        label={label}
        rows={2}
        value={text}
        onChange={setText}
        autoFocus={initial !== ""}
        error={isTried ? problem : null}
        count={text.length}
        max={maxLength}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="sm" busy={busy}>
          {submit}
        </Button>
        {onCancel ? (
          <Button size="sm" variant="ghost" onClick={onCancel}>
            Cancel
          </Button>
        ) : null}
      </div>
    </Form>
  );
}

function problemOf(text: string, others: readonly string[]): string | null {
  if (text === "") return "Enter a question";
  if (text.length > maxLength) return "A question has at most 1,000 characters";
  return others.includes(text) ? "This question is saved already" : null;
}
