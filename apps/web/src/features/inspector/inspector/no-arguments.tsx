import type { ReactNode } from "react";
import { Form } from "~/ui/form.tsx";

type NoArgumentsProps = {
  onSubmit: () => void;
  formId?: string | undefined;
  text?: string;
  children?: ReactNode;
};

/** Replaces an empty form: a text, with the buttons. */
export function NoArguments({ onSubmit, formId, text = "No arguments", children }: NoArgumentsProps) {
  return (
    <Form id={formId} onSubmit={onSubmit}>
      <p className="text-sm text-muted">{text}</p>
      <div className="mt-4 flex flex-wrap items-center gap-2 empty:hidden">{children}</div>
    </Form>
  );
}
