import { buttonLook } from "~/ui/button.tsx";
import { Logo } from "~/ui/logo.tsx";

/** By the codes that better-auth and OpenID Connect use. A text that came with an error is never shown: anybody can write one. */
const texts: Readonly<Record<string, string>> = {
  account_not_linked:
    "Another account on this instance already uses your email address. Sign in the way you did before, or ask the operator. Accounts are never joined by email address alone.",
  email_not_found: "Your sign-in provider did not tell us an email address. Allow it there and try again.",
  access_denied: "Sign-in was cancelled at the provider.",
  provider_unreachable: "The sign-in provider cannot be reached right now. Try again in a moment.",
  state_mismatch: "This sign-in was started in another window or too long ago. Start again.",
  please_restart_the_process: "This sign-in was started in another window or too long ago. Start again.",
  too_many_attempts: "Too many sign-ins were started from your network address. Wait a minute and try again.",
  repeated_cookie:
    "Your browser sent two sign-in cookies for this site, and one of them was not set by Towpath. Neither was accepted. Try again; if you come back here, clear the cookies of this site in your browser's settings first.",
  signup_disabled: "New accounts are not accepted on this instance.",
};

/** Where a round trip to the sign-in provider ends that did not work out. */
export function SignInProblem({ error }: { readonly error: string | undefined }) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col items-start justify-center px-4 py-12">
      <a href="/" className="mb-8 rounded-md" aria-label="Towpath home">
        <Logo />
      </a>
      <h1 className="text-2xl font-semibold tracking-tight">You are not signed in</h1>
      <p className="mt-2 text-base text-muted">
        {texts[error ?? ""] ?? "The sign-in did not work out. Start again; if it happens again, ask the operator."}
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
