import { type ComponentProps, useLayoutEffect, useRef } from "react";
import { Button, type ButtonLook } from "./button.tsx";

type FormProps = Omit<ComponentProps<"form">, "action" | "method" | "onSubmit" | "ref"> & {
  readonly onSubmit: (form: HTMLFormElement) => unknown;
};

/**
 * A form that its page handles. React keeps a submission from before the page's script ran, and repeats it by the form's
 * action once it has the form.
 */
export function Form({ onSubmit, ...rest }: FormProps) {
  const element = useRef<HTMLFormElement>(null);
  const latest = useRef(onSubmit);
  useLayoutEffect(() => {
    latest.current = onSubmit;
  });
  const submit = () => {
    if (element.current) latest.current(element.current);
  };
  return (
    <form
      noValidate
      {...rest}
      ref={element}
      // After the early input of its fields, which is reported in microtasks, too.
      action={() => queueMicrotask(submit)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      // React resets a form after its action.
      onReset={(event) => event.preventDefault()}
    />
  );
}

type FormEndProps = {
  /** Shown above the buttons. */
  readonly failure?: string | null | undefined;
  readonly busy: boolean;
  /** Text of the button that submits. */
  readonly submit: string;
  readonly variant?: ButtonLook["variant"];
  readonly onCancel: () => void;
};

/** Ends a form in a dialog: why it failed, and its buttons. */
export function FormEnd({ failure, busy, submit, variant = "primary", onCancel }: FormEndProps) {
  return (
    <>
      <p role="alert" className="text-sm text-bad empty:hidden">
        {failure}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant={variant} busy={busy}>
          {submit}
        </Button>
      </div>
    </>
  );
}
