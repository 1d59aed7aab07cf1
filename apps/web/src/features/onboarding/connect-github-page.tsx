import { GitBranch } from "lucide-react";
import { useState } from "react";
import { beginConnection } from "~/features/github/github.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { failureText, toast } from "~/ui/toast.ts";
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
  /** The GitHub account that the problem concerns. */
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
      description="Towpath reads the repositories that you choose, builds each push, and never changes them."
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
            <li>You can change or revoke access there at any time.</li>
            {app.isLocalForge ? <li>This instance has no GitHub App and uses a local forge instead.</li> : null}
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

const texts: Readonly<Record<string, string>> = {
  expired: "That took too long, or was started in another window. Start again.",
  declined: "You did not authorize the App at GitHub. Nothing was connected.",
  requested: "An owner of that GitHub organization has to approve the App first. Come back when they have.",
  not_yours: "GitHub does not list that installation for your account, so it was not connected.",
  not_admin:
    "Only an administrator of {account} can connect it, because that opens all its repositories to this team. Ask an owner of {account} to sign in here and connect it.",
  unverified:
    "GitHub doesn't say whether you are an administrator of {account}, so it was not connected. The operator has to give the GitHub App the organization permission Members (read), and an owner of {account} has to accept it.",
  unavailable: "GitHub cannot be reached at the moment. Try again in a minute.",
};

const accountName = /^[\w-]{1,40}$/;

/** The message after a round trip to GitHub that connected nothing. `account`: the GitHub account's login. */
function connectionProblem(problem: string, account?: string): string {
  const text = texts[problem] ?? "GitHub was not connected. Try again; if it happens again, ask the operator.";
  // The name comes from the URL: only put it into the text if it looks like a login.
  return text.replaceAll("{account}", account && accountName.test(account) ? account : "that GitHub account");
}
