import { LogIn } from "lucide-react";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { failureText } from "~/ui/toast.ts";
import { createAuthorizationUrl } from "./session.functions.ts";

/** Replaces a page after its session has ended: signs in and returns to it. */
export function SignedOut() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const signIn = async () => {
    setBusy(true);
    setFailure(null);
    const { pathname, search, hash } = window.location;
    try {
      const { url } = await createAuthorizationUrl({ data: { returnTo: pathname + search + hash } });
      window.location.assign(url);
    } catch (error) {
      setFailure(failureText(error));
      setBusy(false);
    }
  };
  return (
    <div className="max-w-md">
      <PageHeader
        title="You've been signed out"
        description="Your session ended or was ended elsewhere. Sign in to come back to this page."
      />
      <Button variant="primary" icon={<LogIn />} busy={busy} onClick={() => void signIn()}>
        Sign in
      </Button>
      <p role="alert" className="mt-3 text-sm text-bad empty:hidden">
        {failure}
      </p>
    </div>
  );
}
