import type { AddressPolicy } from "@towpath/egress";
import { compactVerify } from "jose";
import { oidcProviderId } from "../oidc.ts";
import { IssuerKeyCache } from "../workloads/issuer-key-cache.ts";
import { IssuerKeysError, type KeySource, readIssuerKeys } from "../workloads/issuer-keys.ts";
import { type AssertionClaims, type AssertionProblem, problemOfClaims, readAssertion } from "./assertion-claims.ts";

/** Reads and verifies the identity assertions of identity providers. */
type AssertionVerifier = {
  readonly read: (assertion: string) => AssertionClaims | AssertionProblem;
  readonly problemOf: typeof problemOfClaims;
  /** Whether the issuer that it names signed it. @throws Error with a public message when the issuer's keys can't be read */
  readonly isSigned: (assertion: string, claims: AssertionClaims) => Promise<boolean>;
  /** The provider of the accounts of people who sign in here by this issuer (`account.provider_id`). */
  readonly providerOf: (issuer: string) => string;
  /** Reads an issuer's keys now. @throws Error with a public message */
  readonly readKeys: (issuer: string) => Promise<void>;
};

/** Keys are where the issuer's own metadata says: nobody else may name them. */
const sourceOf = (issuer: string): KeySource => ({ issuer, jwksUrl: null, keySet: null, ca: null });

/** `onProblem`: an issuer's keys could not be read, or could again (null). */
export function createAssertionVerifier(options: {
  readonly policy: AddressPolicy;
  readonly onProblem: (issuer: string, problem: string | null) => void;
}): AssertionVerifier {
  const reach = { policy: options.policy, operator: null };
  const keys = new IssuerKeyCache({
    ...reach,
    // No longer than they are fresh: a client can ask again, and nobody waits.
    outageMs: 0,
    onProblem: ({ issuer }, problem) => options.onProblem(issuer, problem && withoutEntering(problem)),
  });
  return {
    read: readAssertion,
    problemOf: problemOfClaims,
    async isSigned(assertion, { issuer, kid }) {
      const found = await keys.find(sourceOf(issuer), kid).catch(explained);
      if (!found) return false;
      return compactVerify(assertion, found.key, { algorithms: [found.algorithm] }).then(
        () => true,
        () => false,
      );
    },
    providerOf: oidcProviderId,
    readKeys: async (issuer) => void (await readIssuerKeys(sourceOf(issuer), reach).catch(explained)),
  };
}

function explained(error: unknown): never {
  if (error instanceof IssuerKeysError) throw new IssuerKeysError(withoutEntering(error.message), { cause: error });
  throw error;
}

/** Of a workload's issuer an admin may enter keys and authorities. */
const withoutEntering = (message: string) =>
  message
    .replace(", or enter its keys.", ".")
    .replace("enter that authority's certificate.", "ask the operator to let this instance trust that authority.");
