/** What an MCP client does to get into a server, in this order (GW-5). */
export const signInStepKinds = [
  /** Its first call was answered by 401, with the address of the metadata. */
  "challenge",
  /** It read what the server says about itself (RFC 9728). */
  "resource_metadata",
  /** It read what the authorization server says about itself (RFC 8414). */
  "server_metadata",
  /** It registered itself, or its metadata document was read. */
  "registration",
  /** It sent a person to the authorization endpoint. */
  "authorization",
  /** Somebody signed in and saw what it asks for. */
  "sign_in",
  "consent",
  /** It exchanged the code for tokens. */
  "token",
  /** Or it had all of this in one step: the person's identity provider vouched for them (ID-JAG). */
  "assertion",
  /** Its first call with credentials. */
  "call",
  /** It renewed its tokens. */
  "refresh",
] as const;
export type SignInStepKind = (typeof signInStepKinds)[number];

/** Why a step failed. */
export const signInProblems = [
  "redirect_not_allowed",
  "metadata_invalid",
  "document_private",
  "document_unreachable",
  "document_invalid",
  "client_missing",
  "client_unknown",
  "redirect_not_registered",
  "request_invalid",
  "pkce_missing",
  "resource_missing",
  "resource_unknown",
  "not_a_member",
  "role_not_allowed",
  "declined",
  "secret_wrong",
  "code_unknown",
  "code_used",
  "code_expired",
  "redirect_differs",
  "pkce_mismatch",
  "resource_differs",
  "refresh_unknown",
  "refresh_reused",
  "access_ended",
  "token_expired",
  "token_for_other_server",
  "token_foreign",
  "token_in_url",
  "scope_missing",
  "caller_not_allowed",
  "credentials_unknown",
  "key_unknown",
  "key_revoked",
  "key_expired",
  "key_of_other_team",
  "key_for_other_server",
  "key_not_allowed",
  "workload_token_invalid",
  "workload_untrusted",
  "workload_keys_unreadable",
  "workload_not_admitted",
  "workload_for_other_server",
  "client_public",
  "assertion_invalid",
  "assertion_for_other_issuer",
  "assertion_for_other_client",
  "assertion_for_other_server",
  "assertion_scope_missing",
  "assertion_expired",
  "assertion_early",
  "assertion_issuer_unknown",
  "assertion_unsigned",
  "assertion_keys_unreadable",
  "assertion_person_unknown",
  "assertion_used",
] as const;
export type SignInProblem = (typeof signInProblems)[number];

/** What a client did wrong although the step succeeded, because there was a safe answer (CAP-3). */
export const signInFaults = [
  /** It sent one refresh token several times at once. */
  "refresh_raced",
  /** It sent a refresh token again whose successor nobody has used. */
  "refresh_repeated",
  /** It renewed tokens that it had just got. */
  "refresh_early",
  /** It does not renew tokens. */
  "refresh_unused",
  /** It asked to return to another form of an address of its machine. */
  "redirect_alias",
  /** It registered again, and asked for what the person has allowed. */
  "registered_again",
  /** It asked for new tokens while those that it had got were valid. */
  "tokens_lost",
  /** It asked for tokens for an address above the server's. */
  "resource_inexact",
  /** It asked again and again although it got tokens each time. */
  "sign_in_repeated",
] as const;
export type SignInFault = (typeof signInFaults)[number];

/**
 * One step, as the verb or the gateway that handled it knows it. Never a code, a token or a key. `isProven`: a valid
 * session, code, token or key came with it; strangers can cause all other steps.
 */
export type SignInStep = {
  readonly kind: SignInStepKind;
  /** Null when it succeeded. */
  readonly problem: SignInProblem | null;
  readonly fault?: SignInFault | null;
  /** Null for a step that names no server. */
  readonly projectId: string | null;
  readonly isProven: boolean;
  readonly clientId?: string | null;
  /** What the client calls itself in its registration. */
  readonly clientName?: string | null;
  readonly userId?: string | null;
  readonly keyId?: string | null;
  /** The authorization request that it belongs to, which is also the family of its refresh tokens. */
  readonly authorizationId?: string | null;
  /** What the client made up for one sign-in, hashed: the PKCE challenge, else `state`. */
  readonly flow?: string | null;
  /** What the problem is about, such as the host of a redirect URI. */
  readonly detail?: string | null;
};
