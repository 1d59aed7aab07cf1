/**
 * What can end a request on its way to a server, by what is known of it by then. A policy throws the GatewayError that
 * refuses the request; "answered": it has been answered here and goes no further.
 */
export type Policy<Parts, State> = (parts: Parts, state: State) => Verdict | Promise<Verdict>;
export type Verdict = "passed" | "answered";

/** Applies policies in their order. @throws GatewayError */
export async function applyPolicies<Parts, State>(
  policies: readonly Policy<Parts, State>[],
  parts: Parts,
  state: State,
): Promise<Verdict> {
  for (const policy of policies) {
    const verdict = policy(parts, state);
    if ((verdict instanceof Promise ? await verdict : verdict) === "answered") return "answered";
  }
  return "passed";
}
