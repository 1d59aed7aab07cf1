import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { toast } from "~/ui/toast.ts";
import { changePassword, sessionsQuery } from "./account.functions.ts";

/** Changes the password of a local account. */
export function PasswordCard({ email }: { readonly email: string }) {
  const queryClient = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const { problems, busy, run } = useSubmit();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      await changePassword({ data: { current, next } });
      setCurrent("");
      setNext("");
      toast.success("Password changed. Other sessions have ended.");
      await queryClient.invalidateQueries(sessionsQuery);
    });
  };
  return (
    <Card>
      <CardHeader title="Password" description="Changing it signs you out everywhere else." />
      <CardBody>
        <form noValidate aria-label="Password" onSubmit={submit} className="flex max-w-sm flex-col gap-4">
          {/* For password managers: whose password it is. */}
          <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
          <Field label="Current password" error={problems.current} required>
            {(control) => (
              <Input
                {...control}
                type="password"
                autoComplete="current-password"
                value={current}
                onChange={(event) => setCurrent(event.target.value)}
              />
            )}
          </Field>
          <Field label="New password" hint="At least 10 characters." error={problems.next} required>
            {(control) => (
              <Input
                {...control}
                type="password"
                autoComplete="new-password"
                value={next}
                onChange={(event) => setNext(event.target.value)}
              />
            )}
          </Field>
          <p role="alert" className="text-sm text-bad empty:hidden">
            {problems.form}
          </p>
          <div>
            <Button type="submit" variant="primary" busy={busy}>
              Change password
            </Button>
          </div>
        </form>
      </CardBody>
    </Card>
  );
}
