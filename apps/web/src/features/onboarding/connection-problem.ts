const texts: Readonly<Record<string, string>> = {
  expired: "That took too long, or was started in another window. Start again.",
  declined: "You did not authorize the App at GitHub. Nothing was connected.",
  requested: "An owner of that GitHub organization has to approve the App first. Come back when they have.",
  not_yours: "GitHub does not list that installation for your account, so it was not connected.",
  unavailable: "GitHub cannot be reached at the moment. Try again in a minute.",
};

/** What to tell after a round trip to GitHub that ended without a connection. */
export const connectionProblem = (problem: string): string =>
  texts[problem] ?? "GitHub was not connected. Try again; if it happens again, ask the operator.";
