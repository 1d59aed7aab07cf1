import { Callout } from "~/ui/callout.tsx";

const texts: Readonly<Record<string, string>> = {
  expired: "That took too long, or you started it in another window. Start again.",
  declined: "You didn't authorize the App on GitHub. Nothing was connected.",
  requested: "An owner of that GitHub organization has to approve the App first. Come back when they have.",
  not_yours: "GitHub doesn't list that installation for your account, so it was not connected.",
  not_admin:
    "Only an administrator of {account} can connect it, because that gives this organization access to all its repositories. Ask an owner of {account} to sign in here and connect it.",
  unverified:
    "GitHub didn't say whether you're an administrator of {account}, so it wasn't connected. Ask the operator to give the GitHub App the organization permission Members (read), and an owner of {account} to accept it.",
  app_declined: "GitHub made no App. Nothing was connected.",
  app_failed:
    "The App was not connected. If it was created on GitHub, delete it in its settings there, and start again here.",
  unavailable: "GitHub can't be reached right now. Try again in a minute.",
};

const accountName = /^[\w-]{1,40}$/;

type ConnectionProblemProps = {
  readonly problem: string | undefined;
  /** The GitHub account that the problem concerns. */
  readonly account: string | undefined;
};

/** The problem of a round trip to GitHub that connected nothing, if any. */
export function ConnectionProblem({ problem, account }: ConnectionProblemProps) {
  if (!problem) return null;
  const text = texts[problem] ?? "GitHub was not connected. Try again; if it happens again, ask the operator.";
  // The name is from the URL: use it only if it looks like a login.
  const name = account && accountName.test(account) ? account : "that GitHub account";
  return (
    <Callout tone="warn" className="mb-5">
      {text.replaceAll("{account}", name)}
    </Callout>
  );
}
