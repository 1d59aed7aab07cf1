import { Button, buttonLook } from "~/ui/button.tsx";
import type { RefusedForm } from "./credentials.schema.ts";
import { CredentialField, linkLook, SignInFrame } from "./sign-in-frame.tsx";

type ForgotPasswordPageProps = {
  readonly sendsMail: boolean;
  readonly isSent: boolean;
  readonly refused: RefusedForm | null;
};

/** Requests a link that sets a new password; without a mail server, shows who can make one. */
export function ForgotPasswordPage({ sendsMail, isSent, refused }: ForgotPasswordPageProps) {
  if (!sendsMail) {
    return (
      <SignInFrame
        title="Forgot your password?"
        description="This instance can't send email. Ask its operator for a link to set a new password:"
      >
        <code className="mt-4 block rounded-md border bg-sunken px-3 py-2 text-xs break-all">
          ./towpath reset-password you@example.com
        </code>
        <BackToSignIn />
      </SignInFrame>
    );
  }
  if (isSent) {
    return (
      <SignInFrame
        title="Check your inbox"
        description="If there is an account with this address, we've sent a link to set a new password. It works for an hour."
      >
        <BackToSignIn />
      </SignInFrame>
    );
  }
  return (
    <SignInFrame
      title="Forgot your password?"
      description="Enter your email address and we'll send you a link to set a new one."
      problem={refused?.message}
    >
      <form method="post" className="mt-6 flex flex-col gap-4" noValidate>
        <CredentialField name="email" label="Email" type="email" autoComplete="username" refused={refused} />
        <Button type="submit" variant="primary" size="lg" className="mt-2">
          Send link
        </Button>
      </form>
      <BackToSignIn />
    </SignInFrame>
  );
}

type ResetPasswordPageProps = {
  readonly email: string | null;
  readonly isDone: boolean;
  readonly refused: RefusedForm | null;
};

/** Sets a new password with a link. `email`: the account's; null for a link that doesn't work. */
export function ResetPasswordPage({ email, isDone, refused }: ResetPasswordPageProps) {
  if (isDone) {
    return (
      <SignInFrame
        title="Your password has changed"
        description="You've been signed out everywhere. Sign in with your new password."
      >
        <a href="/provider/sign-in" className={buttonLook({ variant: "primary", size: "lg", className: "mt-6" })}>
          Sign in
        </a>
      </SignInFrame>
    );
  }
  if (email === null) {
    return (
      <SignInFrame
        title="This link doesn't work"
        description="It was already used, is more than an hour old, or wasn't copied completely."
      >
        <a
          href="/provider/forgot-password"
          className={buttonLook({ variant: "primary", size: "lg", className: "mt-6" })}
        >
          Get a new link
        </a>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame
      title="Set a new password"
      description={`For ${email}. All your sessions end.`}
      problem={refused?.message}
    >
      <form method="post" className="mt-6 flex flex-col gap-4" noValidate>
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <CredentialField
          name="password"
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 10 characters."
          refused={refused}
        />
        <Button type="submit" variant="primary" size="lg" className="mt-2">
          Change password
        </Button>
      </form>
    </SignInFrame>
  );
}

function BackToSignIn() {
  return (
    <p className="mt-6 text-sm">
      <a className={linkLook} href="/provider/sign-in">
        Back to sign-in
      </a>
    </p>
  );
}
