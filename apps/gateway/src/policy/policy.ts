/**
 * A check of a request on its way to a server, in a given state of the call. A policy throws the GatewayError that
 * refuses the request, or returns "answered" if it has answered it.
 */
export type Policy<Parts, State> = (parts: Parts, state: State) => Verdict;
type Verdict = "passed" | "answered";

/** Applies policies in their order. @throws GatewayError */
export function applyPolicies<Parts, State>(
  policies: readonly Policy<Parts, State>[],
  parts: Parts,
  state: State,
): Verdict {
  return policies.some((policy) => policy(parts, state) === "answered") ? "answered" : "passed";
}
