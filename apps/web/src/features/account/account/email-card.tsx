import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { cancelEmailChange, requestEmailChange, signInMethodsQuery } from "./account.functions.ts";
import { CurrentPasswordField } from "./password-form.tsx";
import { useReloadedProfile } from "./use-reloaded-profile.ts";

/** The address that the user signs in with, and its change (ORG-7). */
export function EmailCard({ email }: { readonly email: string }) {
  const { data: methods } = useSuspenseQuery(signInMethodsQuery);
  const { issuer, pendingEmail, sendsMail } = methods;
  if (issuer !== null) return <IssuerEmail email={email} issuer={issuer} />;
  return (
    <Card>
      <CardHeader
        title="Email"
        description="You sign in and get invitations with this address."
        actions={methods.hasPassword ? <ChangeEmail email={email} sendsMail={sendsMail} /> : null}
      />
      <CardBody className="flex flex-col gap-4">
        <p className="text-sm break-words">{email}</p>
        {pendingEmail ? <Pending {...pendingEmail} /> : null}
      </CardBody>
    </Card>
  );
}

function IssuerEmail({ email, issuer }: { readonly email: string; readonly issuer: string }) {
  const { host } = new URL(issuer);
  return (
    <Card>
      <CardHeader
        title="Email"
        description={`Your address comes from ${host}. Change it there; Towpath picks it up the next time you sign in.`}
        actions={
          <a href={issuer} target="_blank" rel="noreferrer" className={buttonLook()}>
            Open {host}
            <ExternalLink />
          </a>
        }
      />
      <CardBody>
        <p className="text-sm break-words">{email}</p>
      </CardBody>
    </Card>
  );
}

/** A change that isn't confirmed yet. */
function Pending({ email, expiresAt }: { readonly email: string; readonly expiresAt: string }) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    try {
      await cancelEmailChange();
      await queryClient.invalidateQueries(signInMethodsQuery);
      toast.success("Your email stays the same");
    } catch (error) {
      toast.error(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Callout title={`Confirm ${email}`}>
      <p>
        Open the link we sent there, in this browser. It expires <RelativeTime time={expiresAt} />.
      </p>
      <Button size="sm" className="mt-2" busy={busy} onClick={() => void cancel()}>
        Cancel change
      </Button>
    </Callout>
  );
}

function ChangeEmail(props: { readonly email: string; readonly sendsMail: boolean }) {
  return (
    <Dialog
      title="Change your email"
      description={
        props.sendsMail
          ? "We'll send a link to the new address and notify the old one. Your email changes when you open the link."
          : "This instance can't send email, so the change applies at once, unverified. Type carefully: you sign in with this address."
      }
      trigger={<Button>Change email</Button>}
    >
      {(close) => <ChangeForm {...props} onClose={close} />}
    </Dialog>
  );
}

type ChangeFormProps = {
  readonly email: string;
  readonly sendsMail: boolean;
  readonly onClose: () => void;
};

function ChangeForm({ email: current, sendsMail, onClose }: ChangeFormProps) {
  const queryClient = useQueryClient();
  const reload = useReloadedProfile();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { problems, busy, run } = useSubmit();
  const submit = () =>
    run(async () => {
      const { isChanged } = await requestEmailChange({ data: { email, password } });
      onClose();
      if (isChanged) {
        await reload();
        toast.success("Email changed. Other sessions have ended.");
      }
      await queryClient.invalidateQueries({ queryKey: ["account"] });
    });
  return (
    <Form aria-label="Change your email" className="flex flex-col gap-4" onSubmit={() => void submit()}>
      {/* The user name, for password managers. */}
      <input type="text" name="username" autoComplete="username" value={current} readOnly hidden />
      <TextField
        label="New email"
        error={problems.email}
        required
        type="email"
        autoComplete="email"
        value={email}
        onChange={setEmail}
      />
      <CurrentPasswordField error={problems.password} value={password} onChange={setPassword} />
      <FormEnd
        failure={problems.form}
        busy={busy}
        submit={sendsMail ? "Send link" : "Change email"}
        onCancel={onClose}
      />
    </Form>
  );
}
