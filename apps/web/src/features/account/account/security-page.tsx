import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { ConnectedApps } from "~/features/account/oauth/connected-apps.tsx";
import { useSubmit } from "~/http/use-submit.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { toast } from "~/ui/toast.ts";
import { changePassword, sessionsQuery, signInMethodsQuery } from "./account.functions.ts";
import { AccountFrame } from "./account-frame.tsx";
import { ActivityCard } from "./activity-card.tsx";
import { TwoFactorCard } from "./two-factor-card.tsx";

/** How the user signs in, and which apps may act for them (ORG-7). */
export function SecurityPage({ orgSlug, email }: { readonly orgSlug: string; readonly email: string }) {
  const { data: methods } = useSuspenseQuery(signInMethodsQuery);
  return (
    <AccountFrame
      title="Security"
      description="How you sign in, and which apps may act for you."
      actions={
        <Link to="/$orgSlug/settings/sessions" params={{ orgSlug }} className={buttonLook()}>
          Review sessions
        </Link>
      }
    >
      {methods.issuer === null ? null : <IssuerCard issuer={methods.issuer} />}
      {methods.hasPassword ? (
        <>
          <PasswordCard email={email} />
          <TwoFactorCard state={methods.twoFactor} />
        </>
      ) : null}
      <ConnectedApps />
      <ActivityCard />
    </AccountFrame>
  );
}

/** Sign-in by an OpenID Connect provider is changed at the provider. */
function IssuerCard({ issuer }: { readonly issuer: string }) {
  return (
    <Card>
      <CardHeader
        title="Sign-in"
        description={`You sign in with ${new URL(issuer).host}. Change your password and second factor there.`}
      />
      <CardBody>
        <a href={issuer} target="_blank" rel="noreferrer" className={buttonLook()}>
          Open {new URL(issuer).host}
          <ExternalLink />
        </a>
      </CardBody>
    </Card>
  );
}

/** Changes the password of a local account. */
function PasswordCard({ email }: { readonly email: string }) {
  const queryClient = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const { problems, busy, run } = useSubmit();
  const submit = () => {
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
        <Form aria-label="Password" onSubmit={submit} className="flex max-w-sm flex-col gap-4">
          {/* The user name, for password managers. */}
          <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
          <TextField
            label="Current password"
            error={problems.current}
            required
            type="password"
            autoComplete="current-password"
            value={current}
            onChange={setCurrent}
          />
          <TextField
            label="New password"
            hint="At least 10 characters."
            error={problems.next}
            required
            type="password"
            autoComplete="new-password"
            value={next}
            onChange={setNext}
          />
          <p role="alert" className="text-sm text-bad empty:hidden">
            {problems.form}
          </p>
          <div>
            <Button type="submit" variant="primary" busy={busy}>
              Change password
            </Button>
          </div>
        </Form>
      </CardBody>
    </Card>
  );
}
