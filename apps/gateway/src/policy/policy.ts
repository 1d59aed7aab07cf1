/**
 * A check of a request on its way to a server, in a given state of the call. A policy throws the GatewayError that
 * refuses the request, or returns "answered" if it has answered it.
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
