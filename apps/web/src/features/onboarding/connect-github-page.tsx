import { GitBranch } from "lucide-react";
import { useState } from "react";
import { beginConnection } from "~/features/github/github.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { connectionProblem } from "./connection-problem.ts";
import { OnboardingFrame } from "./onboarding-frame.tsx";

/** ONB-2 */
export function ConnectGitHubPage({
  orgSlug,
  app,
  problem,
  account,
}: {
  readonly orgSlug: string;
  readonly app: { readonly isLocalForge: boolean } | null;
  readonly problem: string | undefined;
  /** The GitHub account that the problem is about. */
  readonly account: string | undefined;
}) {
  const [busy, setBusy] = useState(false);
  const connect = async () => {
    setBusy(true);
    try {
      const { url } = await beginConnection({ data: { orgSlug } });
      window.location.assign(url);
    } catch (error) {
      toast.error(failureText(error));
      setBusy(false);
    }
  };
  return (
    <OnboardingFrame
      step="GitHub"
      title="Connect GitHub"
      description="Towpath reads the repositories that you choose, builds each push, and writes nothing into them."
    >
      {problem ? (
        <Callout tone="warn" className="mb-5">
          {connectionProblem(problem, account)}
        </Callout>
      ) : null}
      {app ? (
        <>
          <Button
            variant="primary"
            size="lg"
            icon={<GitBranch aria-hidden />}
            busy={busy}
            onClick={() => void connect()}
          >
            Connect GitHub
          </Button>
          <ul className="mt-6 list-disc space-y-1.5 pl-5 text-sm text-muted marker:text-faint">
            <li>You choose the account and the repositories on the next page.</li>
            <li>Access can be changed or taken back there at any time.</li>
            {app.isLocalForge ? <li>This instance has no GitHub App: a local forge stands in for GitHub.</li> : null}
          </ul>
        </>
      ) : (
        <Callout tone="warn" title="GitHub is not set up on this instance">
          The operator has to configure a GitHub App, or start the local forge.
        </Callout>
      )}
    </OnboardingFrame>
  );
}
