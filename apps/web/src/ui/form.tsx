import { type ComponentProps, useLayoutEffect, useRef } from "react";

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
