const texts: Readonly<Record<string, string>> = {
  expired: "That took too long, or was started in another window. Start again.",
  declined: "You did not authorize the App at GitHub. Nothing was connected.",
  requested: "An owner of that GitHub organization has to approve the App first. Come back when they have.",
  not_yours: "GitHub does not list that installation for your account, so it was not connected.",
  not_admin:
    "Only an administrator of {account} can connect it, because that opens all its repositories to this team. Ask an owner of {account} to sign in here and connect it.",
  unverified:
    "GitHub does not tell whether you are an administrator of {account}, so it was not connected. The operator has to give the GitHub App the organization permission Members (read), and an owner of {account} has to accept it.",
  unavailable: "GitHub cannot be reached at the moment. Try again in a minute.",
};

const accountName = /^[\w-]{1,40}$/;

/** The message after a visit to GitHub that ended without a connection. `account`: the GitHub account's login. */
export function connectionProblem(problem: string, account?: string): string {
  const text = texts[problem] ?? "GitHub was not connected. Try again; if it happens again, ask the operator.";
  // The name comes from the URL: only put it into the text if it looks like a login.
  return text.replaceAll("{account}", account && accountName.test(account) ? account : "that GitHub account");
}
