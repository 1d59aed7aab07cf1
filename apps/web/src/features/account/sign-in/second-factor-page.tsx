import { Button } from "~/ui/button.tsx";
import type { RefusedForm } from "./credentials.schema.ts";
import { CredentialField, linkLook, SignInFrame } from "./sign-in-frame.tsx";

type SecondFactorPageProps = {
  readonly refused: RefusedForm | null;
  readonly returnTo: string | undefined;
  /** Asks for a recovery code instead. */
  readonly recovery: boolean;
};

/** The second step of a sign-in. A plain form, which works without scripts. */
export function SecondFactorPage({ refused, returnTo, recovery }: SecondFactorPageProps) {
  const back = refused?.values.returnTo ?? returnTo ?? "";
  const search = new URLSearchParams({
    ...(back ? { returnTo: back } : {}),
    ...(recovery ? {} : { recovery: "true" }),
  });
  return (
    <SignInFrame
      title={recovery ? "Use a recovery code" : "Enter your code"}
      description={
        recovery
          ? "One of the codes you saved when you turned on two-factor sign-in. Each works once."
          : "Open your authenticator app and enter the code for Towpath."
      }
      problem={refused?.message}
    >
      <form method="post" className="mt-6 flex flex-col gap-4" noValidate>
        <input type="hidden" name="returnTo" value={back} />
        <input type="hidden" name="kind" value={recovery ? "recovery" : "app"} />
        <CredentialField
          name="code"
          label={recovery ? "Recovery code" : "Code"}
          autoComplete="one-time-code"
          inputMode={recovery ? "text" : "numeric"}
          refused={refused && { ...refused, values: {} }}
          autoFocus
        />
        <Button type="submit" variant="primary" size="lg" className="mt-2">
          Sign in
        </Button>
      </form>
      <p className="mt-6 text-sm text-muted">
        {recovery ? null : "Lost your device? "}
        <a className={linkLook} href={`/provider/second-factor${search.size > 0 ? `?${search}` : ""}`}>
          {recovery ? "Use your authenticator app" : "Use a recovery code"}
        </a>
      </p>
      <p className="mt-2 text-sm text-muted">
        <a className={linkLook} href="/provider/sign-in">
          Sign in as someone else
        </a>
      </p>
    </SignInFrame>
  );
}
