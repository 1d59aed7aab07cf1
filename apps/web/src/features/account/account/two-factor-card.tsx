import { useQueryClient } from "@tanstack/react-query";
import type { SecondFactorState } from "@towpath/auth";
import { useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { toast } from "~/ui/toast.ts";
import { endTwoFactor, renewRecoveryCodes, signInMethodsQuery } from "./account.functions.ts";
import { PasswordForm } from "./password-form.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { TwoFactorSetup } from "./two-factor-setup.tsx";

/** With fewer codes, people should make new ones. */
const fewCodes = 3;

/** Turns two-factor sign-in on and off, and replaces recovery codes (ORG-7). */
export function TwoFactorCard({ state }: { readonly state: SecondFactorState }) {
  const { isOn, recoveryCodesLeft } = state;
  return (
    <Card>
      <CardHeader
        title={
          <span className="flex items-center gap-2">
            Two-factor sign-in <Badge tone={isOn ? "ok" : "neutral"}>{isOn ? "On" : "Off"}</Badge>
          </span>
        }
        description="A code from an authenticator app, in addition to your password."
        actions={isOn ? <TurnOff /> : <TwoFactorSetup />}
      />
      {isOn ? (
        <CardBody className="flex flex-col gap-3">
          {recoveryCodesLeft < fewCodes ? (
            <Callout tone="warn" title={recoveryCodesLeft === 0 ? "No recovery codes left" : "Few recovery codes left"}>
              Without them, a lost device locks you out. Make new ones.
            </Callout>
          ) : null}
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
            <p className="min-w-0 flex-1">
              {recoveryCodesLeft} of 10 recovery codes left{" "}
              <span className="text-muted">for when you don't have your device.</span>
            </p>
            <NewCodes />
          </div>
        </CardBody>
      ) : null}
    </Card>
  );
}

function TurnOff() {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const turnOff = async (password: string) => {
    await endTwoFactor({ data: { password } });
    setOpen(false);
    toast.success("Two-factor sign-in is off");
    await queryClient.invalidateQueries(signInMethodsQuery);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      trigger={<Button variant="danger-quiet">Turn off</Button>}
      title="Turn off two-factor sign-in?"
      description="Your password alone will be enough to sign in. Your recovery codes stop working."
    >
      <PasswordForm label="Turn off" variant="danger" onCancel={() => setOpen(false)} onSubmit={turnOff} />
    </Dialog>
  );
}

function NewCodes() {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const show = (next: boolean) => {
    setOpen(next);
    setCodes(null);
  };
  const renew = async (password: string) => {
    setCodes((await renewRecoveryCodes({ data: { password } })).recoveryCodes);
    await queryClient.invalidateQueries(signInMethodsQuery);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={show}
      trigger={<Button size="sm">New codes</Button>}
      title={codes ? "Save your new recovery codes" : "Make new recovery codes?"}
      description={codes ? "You won't see them again. Each works once." : "Your current codes stop working."}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onDone={() => show(false)} />
      ) : (
        <PasswordForm label="Make new codes" onCancel={() => show(false)} onSubmit={renew} />
      )}
    </Dialog>
  );
}
