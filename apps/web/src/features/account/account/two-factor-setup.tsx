import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { beginTwoFactor, confirmTwoFactor, signInMethodsQuery } from "./account.functions.ts";
import { PasswordForm } from "./password-form.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type Begun = Awaited<ReturnType<typeof beginTwoFactor>>;

/** The person's step: the password, the app, the recovery codes. */
type Step =
  | { readonly kind: "password" }
  | { readonly kind: "app"; readonly begun: Begun }
  | { readonly kind: "codes"; readonly codes: readonly string[] };

const texts: Record<Step["kind"], { readonly title: string; readonly description: string }> = {
  password: { title: "Turn on two-factor sign-in", description: "First, enter your password." },
  app: { title: "Scan with your authenticator app", description: "Then enter the code it shows." },
  codes: {
    title: "Save your recovery codes",
    description: "Two-factor sign-in is on. If you lose your device, each of these signs you in once.",
  },
};

/** Turns two-factor sign-in on, in three steps. It is in force after the second. */
export function TwoFactorSetup() {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const [step, setStep] = useState<Step>({ kind: "password" });
  const show = (next: boolean) => {
    setOpen(next);
    if (next) return setStep({ kind: "password" });
    // Only now, as the card replaces this dialog when it refetches.
    if (step.kind === "codes") void queryClient.invalidateQueries(signInMethodsQuery);
  };
  const begin = async (password: string) =>
    setStep({ kind: "app", begun: await beginTwoFactor({ data: { password } }) });
  return (
    <Dialog
      open={open}
      onOpenChange={show}
      trigger={<Button variant="primary">Turn on</Button>}
      title={texts[step.kind].title}
      description={texts[step.kind].description}
    >
      {step.kind === "password" ? (
        <PasswordForm label="Continue" onCancel={() => show(false)} onSubmit={begin} />
      ) : null}
      {step.kind === "app" ? (
        <AppStep begun={step.begun} onDone={() => setStep({ kind: "codes", codes: step.begun.recoveryCodes })} />
      ) : null}
      {step.kind === "codes" ? <RecoveryCodes codes={step.codes} onDone={() => show(false)} /> : null}
    </Dialog>
  );
}

function AppStep({ begun, onDone }: { readonly begun: Begun; readonly onDone: () => void }) {
  const [code, setCode] = useState("");
  const { problems, busy, run } = useSubmit();
  const submit = () => {
    void run(async () => {
      await confirmTwoFactor({ data: { code } });
      onDone();
    });
  };
  const groups = begun.secret.match(/.{1,4}/g) ?? [];
  return (
    <Form aria-label="Authenticator app" onSubmit={submit} className="flex flex-col gap-4">
      <div className="flex flex-col gap-4 sm:flex-row sm:items-center">
        {/* White in both themes: cameras expect dark squares on light ground. */}
        <svg
          role="img"
          aria-label="QR code for your authenticator app"
          viewBox={`0 0 ${begun.size} ${begun.size}`}
          className="size-44 shrink-0 self-center rounded-md border bg-white"
          shapeRendering="crispEdges"
        >
          <path d={begun.qr} fill="#000" />
        </svg>
        <div className="min-w-0 text-sm">
          <p className="text-muted">No camera? Enter this key in the app:</p>
          <div className="mt-1 flex items-start gap-1">
            <code data-testid="totp-secret" className="min-w-0 font-mono text-xs leading-5 break-words">
              {groups.join(" ")}
            </code>
            <CopyButton text={begun.secret} label="Copy key" />
          </div>
        </div>
      </div>
      <TextField
        label="Code"
        hint="Six digits, new every 30 seconds."
        error={problems.code ?? problems.form}
        required
        mono
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={7}
        className="max-w-40 text-base tracking-widest"
        value={code}
        onChange={setCode}
      />
      <div className="flex justify-end">
        <Button type="submit" variant="primary" busy={busy}>
          Turn on
        </Button>
      </div>
    </Form>
  );
}
