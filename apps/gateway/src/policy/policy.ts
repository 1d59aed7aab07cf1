/**
 * What can end a request on its way to a server, by what is known of it by then. A policy throws the GatewayError that
 * refuses the request; "answered": it has been answered here and goes no further.
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
