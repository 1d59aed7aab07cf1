import type { SignInProblem } from "@towpath/logs/sign-ins";
import { aboutSignIn, GatewayError } from "../gateway-error.ts";
import { callScope, challengeFor, type ProtectedResource } from "../oauth/resource.ts";
import { type TokenProblem, tokenProblems } from "./access-tokens.ts";

const signInProblems = {
  expired: "token_expired",
  "other-audience": "token_for_other_server",
  foreign: "token_foreign",
  ended: "access_ended",
} as const satisfies Record<TokenProblem, SignInProblem>;

/** Without credentials: how every OAuth client begins. */
export function signInRequired(resource: ProtectedResource): GatewayError {
  const message =
    "This server asks for credentials, or doesn't exist: check its name, then sign in from a client that " +
    "supports OAuth, or send `Authorization: Bearer` with an API key of its organization.";
  const refusal = new GatewayError("sign_in_required", message, { "www-authenticate": challengeFor(resource, null) });
  return aboutSignIn(refusal, { problem: null, isProven: false });
}

type Refused = { code: "invalid_request" | "invalid_token"; description: string };

/** Credentials that are not valid; `hasExpired`: any more. */
export function unauthorized(resource: ProtectedResource, error: Refused, hasExpired = false): GatewayError {
  const code = hasExpired ? "token_expired" : "unauthorized";
  return new GatewayError(code, error.description, { "www-authenticate": challengeFor(resource, error) });
}

/** A refused access token. */
export function refusedToken(resource: ProtectedResource, problem: TokenProblem): GatewayError {
  const error = { code: "invalid_token", description: tokenProblems[problem] } as const;
  const refusal = unauthorized(resource, error, problem === "expired");
  return aboutSignIn(refusal, { problem: signInProblems[problem], isProven: false });
}

/** An access token whose scope does not suffice. */
export function insufficientScope(resource: ProtectedResource): GatewayError {
  const description = `The access token lacks the scope ${callScope}: ask for it and sign in again.`;
  const challenge = challengeFor(resource, { code: "insufficient_scope", description });
  return new GatewayError("insufficient_scope", description, { "www-authenticate": challenge });
}
