/** Why a request to a third-party URL was not made, or got no answer. */
type EgressProblem =
  | "invalid_url"
  | "address_not_allowed"
  | "name_not_found"
  | "unreachable"
  | "tls"
  | "timeout"
  | "redirect"
  | "status"
  | "too_large"
  | "not_json";

/** The remedy for `address_not_allowed`, as a sentence. */
export const privateNetworkRemedy =
  "If it is in a private network, ask the operator to allow that in TOWPATH_EXTERNAL_NETWORKS.";

/** `message` is safe to show to the person who named the URL. */
export class EgressError extends Error {
  readonly problem: EgressProblem;
  constructor(problem: EgressProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "EgressError";
    this.problem = problem;
  }
}
