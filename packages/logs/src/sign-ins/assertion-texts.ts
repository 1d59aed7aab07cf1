import type { SignInProblem } from "@towpath/core/calling/oauth/sign-in-step";

// Browser-safe.

const providers = "Settings, API keys, Company sign-in";
const newAssertion = "The client has to ask the identity provider for a new one.";

/** Why a client did not get in by an assertion of the company's identity provider. */
export const assertionProblemTexts = {
  client_public: {
    title: "The client has no secret, so it can't use the company's sign-in",
    text: "Anybody can register such a client. Register one with a secret, or use one with a metadata document, and enter its client ID at the identity provider.",
  },
  assertion_invalid: {
    title: "The identity assertion is not valid",
    text: "It must be an ID-JAG (type oauth-id-jag+jwt), signed with RS256 or ES256, for one person, client and server, with an id and valid for an hour at most. What is named beside the step is missing or wrong.",
  },
  assertion_for_other_issuer: {
    title: "The identity assertion is for another authorization server",
    text: "Its audience (aud) must be this instance's address. An admin can correct it at the identity provider.",
  },
  assertion_for_other_client: {
    title: "The identity assertion is for another client",
    text: "Its client_id must be the one that the client has here. An admin can correct it at the identity provider.",
  },
  assertion_for_other_server: {
    title: "The identity assertion is for another server",
    text: "Its resource must be this server's address with /mcp. An admin can correct it at the identity provider.",
  },
  assertion_scope_missing: {
    title: "The identity assertion does not allow calls",
    text: "It lists scopes without mcp, the only one here. An admin of the identity provider can allow it.",
  },
  assertion_expired: { title: "The identity assertion has expired", text: newAssertion },
  assertion_early: {
    title: "The identity assertion is not valid yet",
    text: "The clock of the identity provider or of this instance is wrong.",
  },
  assertion_issuer_unknown: {
    title: "The organization has not added this identity provider",
    text: `An admin can add it under ${providers}. Its issuer must be exactly the one in the assertion.`,
  },
  assertion_unsigned: {
    title: "The identity provider has not signed the identity assertion",
    text: "Its signature is by none of the keys that the provider publishes. Somebody may have made it up.",
  },
  assertion_keys_unreadable: {
    title: "The keys of the identity provider can't be read",
    text: `The reason is beside it, under ${providers}.`,
  },
  assertion_person_unknown: {
    title: "The identity assertion names no member of the organization",
    text: `Invite the person, and let them sign in here once by the same identity provider; or let ${providers} find members by their verified email address.`,
  },
  assertion_used: {
    title: "The identity assertion was used before",
    text: `Each is good for one token. ${newAssertion}`,
  },
} as const satisfies Partial<Record<SignInProblem, { readonly title: string; readonly text: string }>>;
