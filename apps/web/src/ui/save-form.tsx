import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Failure } from "./callout.tsx";
import { Form } from "./form.tsx";
import { UnsavedChanges } from "./unsaved-changes.tsx";

export type SaveFormProps = {
  /** State of saving (`useSubmit`). */
  readonly form: { readonly busy: boolean; readonly failure: string | null };
  readonly isChanged: boolean;
  /** Label of the button. */
  readonly save?: string;
  /** Whether the reader's role may save; without it there is no button. */
  readonly maySave?: boolean;
  /** Title of a failure. */
  readonly failed?: string;
  readonly onSubmit: () => unknown;
  /** Below the button, such as the saved changes. */
  readonly after?: ReactNode;
  readonly children: ReactNode;
};

/** Fields that are saved together: shows failures, and asks before the person leaves with unsaved changes. */
export function SaveForm({
  label,
  what,
  form: { busy, failure },
  isChanged,
  save = "Save",
  maySave = true,
  failed = "Nothing was saved",
  onSubmit,
  after,
  className = "",
  children,
}: SaveFormProps & {
  /** Name of the form for screen readers. */
  readonly label: string;
  /** Name of the fields: "limits", "build settings". */
  readonly what: string;
  readonly className?: string;
}) {
  return (
    <Form
      aria-label={label}
      className={`flex flex-col gap-5 ${className}`}
      onSubmit={() => {
        if (!busy) onSubmit();
      }}
    >
      <UnsavedChanges when={isChanged && !busy} what={what} />
      {children}
      <Failure title={failed}>{failure}</Failure>
      {maySave ? (
        <Button type="submit" variant="primary" busy={busy} className="self-start">
          {save}
        </Button>
      ) : null}
      {after}
    </Form>
  );
}
