import type { TokenHead, WorkloadRefusal, WorkloadTokenProblem, WorkloadVerifier } from "@towpath/auth/workloads";
import { aboutSignIn, credentialsUnavailable, type GatewayError } from "../gateway-error.ts";
import type { ProtectedResource } from "../oauth/resource.ts";
import type { Route } from "../read-model/routes.ts";
import type { Principal } from "./credentials.ts";
import { unauthorized } from "./refused-credentials.ts";

/** What the sender of a token can do about what its own content shows. */
const problems: Readonly<Record<WorkloadTokenProblem, (resource: ProtectedResource) => string>> = {
  unsupported: () =>
    "A token of another issuer must be a JWT that is signed with RS256 or ES256, names its key (kid) and has iss, sub, " +
    "aud, iat and exp.",
  expired: () => "The token has expired: read it from its file again, where its issuer renews it.",
  not_yet_valid: () => "The token is not valid yet: the clocks of its issuer and of this instance differ.",
  lives_too_long: () => "The token is valid for more than 24 hours: ask its issuer for a shorter one.",
  other_audience: ({ url }) => `The token is for another audience: ask its issuer for one with the audience ${url}.`,
};

/** The same for all that would reveal whether a server exists and whom its organization trusts. */
const notAccepted =
  "The token was not accepted. An organization must have a workload identity for the token's issuer and subject, whose " +
  "keys can be read, to admit it to a server. Members of the server's organization see the reason on its page Sign-ins.";

const signInProblems = {
  untrusted: "workload_untrusted",
  keys_unreadable: "workload_keys_unreadable",
  subject_not_admitted: "workload_not_admitted",
  other_server: "workload_for_other_server",
} as const;

const maxDetailLength = 300;

/**
 * Creates the check of tokens that other issuers signed, such as those of a cluster's service accounts (KEY-6). The check
 * is null for a token that does not claim to be one, and throws GatewayError.
 */
export function createWorkloadCallers(verifier: WorkloadVerifier) {
  return async (route: Route | undefined, token: string, resource: ProtectedResource): Promise<Principal | null> => {
    const head = verifier.headOf(token);
    if (head === null) return null;
    const verified = await verifier
      .verify({ token, head, resource: resource.url }, route ?? null)
      .catch(() => Promise.reject(credentialsUnavailable()));
    if (typeof verified === "string") throw refused(verified, head, resource);
    const { identity, subject, expiresAt } = verified;
    return {
      id: `workload:${identity.id}:${subject}`,
      actor: { type: "workload", organizationId: identity.organizationId, member: null },
      credential: { kind: "workload", identity, subject, expiresAt, membership: null },
    };
  };
}

function refused(refusal: WorkloadRefusal, head: TokenHead | "unsupported", resource: ProtectedResource): GatewayError {
  const detail = head === "unsupported" ? null : `${head.subject} of ${head.issuer}`.slice(0, maxDetailLength);
  const problem = isOfToken(refusal) ? "workload_token_invalid" : signInProblems[refusal];
  const description = isOfToken(refusal) ? problems[refusal](resource) : notAccepted;
  const refusedToken = unauthorized(resource, { code: "invalid_token", description }, refusal === "expired");
  return aboutSignIn(refusedToken, { problem, isProven: refusal === "other_server", detail });
}

const isOfToken = (refusal: WorkloadRefusal): refusal is WorkloadTokenProblem => Object.hasOwn(problems, refusal);
