import { Button, buttonLook } from "~/ui/button.tsx";
import { Logo } from "~/ui/logo.tsx";
import type { RefusedForm } from "./credentials.schema.ts";
import { CredentialField, linkLook, SignInFrame } from "./sign-in-frame.tsx";

type CredentialsPageProps = {
  readonly kind: "sign-in" | "sign-up";
  readonly refused: RefusedForm | null;
  readonly returnTo?: string | undefined;
  /** Filled in: of an invitation. */
  readonly email?: string | undefined;
};

/** Pages of the embedded provider: plain forms and links, which work without scripts. */
export function CredentialsPage({ kind, refused, returnTo, email }: CredentialsPageProps) {
  const back = refused?.values.returnTo ?? returnTo ?? "";
  const parameters = new URLSearchParams({ ...(back && { returnTo: back }), ...(email && { email }) });
  const query = parameters.size === 0 ? "" : `?${parameters}`;
  const signUp = kind === "sign-up";
  return (
    <SignInFrame
      title={signUp ? "Create your account" : "Sign in"}
      description={
        signUp ? "Accounts live on this Towpath instance only." : "With your account on this Towpath instance."
      }
      problem={refused?.message}
    >
      <form method="post" className="mt-6 flex flex-col gap-4" noValidate>
        <input type="hidden" name="returnTo" value={back} />
        {signUp ? (
          <div className="grid gap-4 sm:grid-cols-2">
            <CredentialField name="firstName" label="First name" autoComplete="given-name" refused={refused} />
            <CredentialField name="lastName" label="Last name" autoComplete="family-name" refused={refused} />
          </div>
        ) : null}
        <CredentialField
          name="email"
          label="Email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          refused={refused}
        />
        <CredentialField
          name="password"
          label="Password"
          type="password"
          autoComplete={signUp ? "new-password" : "current-password"}
          hint={signUp ? "At least 10 characters." : undefined}
          refused={refused}
        />
        <Button type="submit" variant="primary" size="lg" className="mt-2">
          {signUp ? "Create account" : "Sign in"}
        </Button>
      </form>
      {signUp ? null : (
        <a className={`${linkLook} mt-6 self-start text-sm`} href="/provider/forgot-password">
          Forgot your password?
        </a>
      )}
      <p className={signUp ? "mt-6 text-sm text-muted" : "mt-2 text-sm text-muted"}>
        {signUp ? "Already have an account? " : "No account yet? "}
        <a className={linkLook} href={`/provider/${signUp ? "sign-in" : "sign-up"}${query}`}>
          {signUp ? "Sign in" : "Sign up"}
        </a>
      </p>
    </SignInFrame>
  );
}

/** Texts by error code of better-auth and OpenID Connect. Never show a message from the URL: anyone can forge it. */
const texts: Readonly<Record<string, string>> = {
  account_not_linked:
    "Another account on this instance already uses your email address. Sign in the way you did before, or ask the operator. Towpath never merges accounts by email address alone.",
  email_not_found: "Your sign-in provider did not share an email address. Allow it there and try again.",
  access_denied: "Sign-in was canceled at the provider.",
  provider_unreachable: "The sign-in provider can't be reached right now. Try again in a moment.",
  state_mismatch: "This sign-in was started in another window or too long ago. Start again.",
  please_restart_the_process: "This sign-in was started in another window or too long ago. Start again.",
  too_many_attempts: "Too many sign-ins were started from your IP address. Wait a minute and try again.",
  repeated_cookie:
    "Your browser sent two sign-in cookies for this site, and one of them was not set by Towpath. Neither was accepted. Try again; if you come back here, clear the cookies of this site in your browser's settings first.",
  signup_disabled: "This instance doesn't accept new accounts.",
};

/** The page after a failed sign-in at the provider. */
export function SignInProblem({ error }: { readonly error: string | undefined }) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col items-start justify-center px-4 py-12">
      <a href="/" className="mb-8 rounded-md" aria-label="Towpath home">
        <Logo />
      </a>
      <h1 className="text-2xl font-semibold tracking-tight">You are not signed in</h1>
      <p className="mt-2 text-base text-muted">
        {texts[error ?? ""] ?? "Sign-in failed. Try again; if it happens again, ask the operator."}
      </p>
      <div className="mt-6 flex gap-2">
        <a href="/login" className={buttonLook({ variant: "primary" })}>
          Try again
        </a>
        <a href="/" className={buttonLook()}>
          Return Home
        </a>
      </div>
    </main>
  );
}

/** Asks before signing out when another site may have caused the visit. */
export function SignOutPage() {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col items-start justify-center px-4 py-12">
      <a href="/" className="mb-8 rounded-md" aria-label="Towpath home">
        <Logo />
      </a>
      <h1 className="text-2xl font-semibold tracking-tight">Sign out of Towpath?</h1>
      <p className="mt-2 text-base text-muted">You need to sign in again to see your servers.</p>
      <form method="post" className="mt-6 flex gap-2">
        <Button type="submit" variant="primary">
          Sign out
        </Button>
        <a href="/" className={buttonLook()}>
          Stay signed in
        </a>
      </form>
    </main>
  );
}
