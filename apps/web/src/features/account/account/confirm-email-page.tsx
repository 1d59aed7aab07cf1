import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { OAuthFrame } from "~/features/account/oauth/consent-states.tsx";
import { useSubmit } from "~/http/use-submit.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { confirmEmailChange, linkedEmailQuery } from "./account.functions.ts";

/** Where the link of an email change leads. Opening it changes nothing: mail programs open links before people do. */
export function ConfirmEmailPage({ token }: { readonly token: string }) {
  const { data: linked } = useSuspenseQuery(linkedEmailQuery(token));
  const [changed, setChanged] = useState<string | null>(null);
  const { failure, busy, run } = useSubmit();
  if (changed) {
    return (
      <OAuthFrame title="Your email has changed">
        <p className="mt-2 text-base break-words text-muted">
          From now on you sign in with <strong className="font-medium text-ink">{changed}</strong>. Your other sessions
          have ended.
        </p>
        <Home />
      </OAuthFrame>
    );
  }
  if (linked.to === null) {
    return (
      <OAuthFrame title="This link doesn't work">
        <p className="mt-2 text-base break-words text-muted">
          It was used or canceled, is more than an hour old, or is for another account: you're signed in as{" "}
          <strong className="font-medium text-ink">{linked.from}</strong>.
        </p>
        <Home />
      </OAuthFrame>
    );
  }
  const confirm = () => run(async () => setChanged((await confirmEmailChange({ data: { token } })).email));
  return (
    <OAuthFrame title="Change your email?">
      <p className="mt-2 text-base break-words text-muted">
        You sign in with <strong className="font-medium text-ink">{linked.from}</strong>. From now on it will be{" "}
        <strong className="font-medium text-ink">{linked.to}</strong>. Your other sessions end.
      </p>
      <Failure title="Your email was not changed" className="mt-4">
        {failure}
      </Failure>
      <div className="mt-6 flex flex-wrap gap-2">
        <Button variant="primary" size="lg" busy={busy} onClick={() => void confirm()}>
          Change email
        </Button>
        <a href="/account" className={buttonLook({ size: "lg" })}>
          Not now
        </a>
      </div>
    </OAuthFrame>
  );
}

function Home() {
  return (
    <a href="/account" className={buttonLook({ variant: "primary", size: "lg", className: "mt-6 self-start" })}>
      Open your account
    </a>
  );
}
