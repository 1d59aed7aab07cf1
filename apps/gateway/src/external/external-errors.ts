import type { EgressError } from "@towpath/egress";
import { GatewayError } from "../gateway-error.ts";

// These texts don't reveal where the server is: everybody who may call it sees them.

const settings = "Its organization finds the address and credential in the server's settings.";

/** No connection was made, so nothing was sent. */
export function notConnected({ problem }: EgressError): GatewayError {
  if (problem === "timeout") {
    const message = "The external server did not accept the connection in time. Try again shortly.";
    return new GatewayError("external_timeout", message, { "retry-after": "5" });
  }
  const reason =
    problem === "name_not_found"
      ? "its host name is not known"
      : problem === "address_not_allowed"
        ? "its host name leads to an address Towpath doesn't connect to"
        : problem === "tls"
          ? "its TLS certificate is not valid"
          : "it accepts no connections";
  const retry: Record<string, string> = problem === "unreachable" ? { "retry-after": "5" } : {};
  return new GatewayError(
    "external_unreachable",
    `The external server can't be reached: ${reason}. ${settings}`,
    retry,
  );
}

/** The request was sent, and the connection died. */
export const noExternalAnswer = () =>
  new GatewayError(
    "external_unreachable",
    "The external server closed the connection before it answered. It may have carried the request out, so the request " +
      "was not sent again.",
  );

/** The request was sent, and no answer began. */
export const externalTimedOut = () =>
  new GatewayError(
    "external_timeout",
    "The external server did not start to answer in time. It may still carry the request out, so the request was not " +
      "sent again.",
  );

/** A status that must not reach the client: it would sign in, or go, somewhere else. */
export function externalRefused(status: number): GatewayError {
  const reason =
    status === 401
      ? "refused Towpath's credential (HTTP 401)"
      : `redirects to another address (HTTP ${status}), which Towpath doesn't follow`;
  return new GatewayError("external_refused", `The external server ${reason}. ${settings}`);
}
