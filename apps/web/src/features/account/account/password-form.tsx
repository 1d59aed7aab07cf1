import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import type { ButtonLook } from "~/ui/button.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";

type PasswordFormProps = {
  /** Of the button. */
  readonly label: string;
  readonly variant?: ButtonLook["variant"];
  readonly onCancel: () => void;
  /** Its rejection is shown. */
  readonly onSubmit: (password: string) => Promise<void>;
};

/** Asks for the password again before a change of the account, in a dialog. */
export function PasswordForm({ label, variant = "primary", onCancel, onSubmit }: PasswordFormProps) {
  const [password, setPassword] = useState("");
  const { problems, busy, run } = useSubmit();
  const submit = () => {
    void run(() => onSubmit(password));
  };
  return (
    <Form aria-label={label} onSubmit={submit} className="flex flex-col gap-4">
      <CurrentPasswordField error={problems.password ?? problems.form} value={password} onChange={setPassword} />
      <FormEnd busy={busy} submit={label} variant={variant} onCancel={onCancel} />
    </Form>
  );
}

type CurrentPasswordFieldProps = {
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

/** The signed-in person's password, to prove their identity. */
export function CurrentPasswordField({ error, value, onChange }: CurrentPasswordFieldProps) {
  return (
    <TextField
      label="Your password"
      error={error}
      required
      type="password"
      autoComplete="current-password"
      value={value}
      onChange={onChange}
    />
  );
}
