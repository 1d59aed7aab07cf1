import type { SignInFault, SignInProblem, SignInStepKind } from "@towpath/core/calling/oauth/sign-in-step";
import { assertionProblemTexts } from "./assertion-texts.ts";

// Browser-safe. Shared by the page and the REST API.

/** What happened, and what to do about it. */
export type SignInText = { readonly title: string; readonly text: string };

/** The label of each step. */
export const signInStepLabels: Readonly<Record<SignInStepKind, string>> = {
  challenge: "First call refused with 401, as expected",
  resource_metadata: "Server's metadata read",
  server_metadata: "Authorization server's metadata read",
  registration: "Client registered",
  authorization: "Person sent to sign in",
  sign_in: "Person signed in",
  consent: "Access allowed",
  token: "Code exchanged for tokens",
  assertion: "Signed in by the company's sign-in",
  call: "Call with credentials accepted",
  refresh: "Tokens renewed",
};

const startAgain = "Remove the server from the client, add it again and sign in.";
const newKey = "Create a new key on the organization's API keys page and put it into the client.";

/** Why a step failed. */
export const signInProblemTexts: Readonly<Record<SignInProblem, SignInText>> = {
  redirect_not_allowed: {
    title: "The client registered a return address that is not allowed",
    text: "Return addresses must be https, http on localhost, or the app's own scheme, without a fragment. The client's developers can change it.",
  },
  metadata_invalid: {
    title: "The client's registration was refused",
    text: "It lacks a required field, or asks for a sign-in method Towpath doesn't support. Update the client; its log has the reason.",
  },
  document_private: {
    title: "The client's metadata document is at a private address",
    text: "The client's address is not on the public internet, so Towpath doesn't fetch it. Publish the document at a public https address, or let the client register itself.",
  },
  document_unreachable: {
    title: "The client's metadata document could not be read",
    text: "Its address did not answer with a JSON document in time, or redirects. Check that you can open it from the internet, then connect again.",
  },
  document_invalid: {
    title: "The client's metadata document is not valid",
    text: 'Its client_id must be its own address, and its token_endpoint_auth_method "none". The client\'s developers can correct it.',
  },
  client_missing: {
    title: "The client did not say who it is",
    text: "The request has no client_id. Update the client.",
  },
  client_unknown: {
    title: "The client is not registered here",
    text: `Registrations expire after a week without use, or the client's is from another instance. ${startAgain}`,
  },
  redirect_not_registered: {
    title: "The client asked to return to an address it did not register",
    text: `Towpath sent nothing there, because it could be someone else's. If the client's address or port has changed, it must register again. ${startAgain}`,
  },
  request_invalid: {
    title: "The client's request is not valid",
    text: "It doesn't follow OAuth 2.1. Update the client; its log has the reason.",
  },
  pkce_missing: {
    title: "The client does not use PKCE",
    text: "Sign-in needs PKCE with the method S256. Update the client, or use an API key.",
  },
  resource_missing: {
    title: "The client did not name the server to sign in to",
    text: "The request has no resource. Update the client, or use an API key.",
  },
  resource_unknown: {
    title: "The client asked for an unknown server",
    text: "The resource must be this server's URL exactly as the Connect panel shows it. Correct the URL in the client.",
  },
  not_a_member: {
    title: "Someone outside this organization signed in",
    text: "Only members can connect. Invite the person, or sign out in the browser and sign in with a member's account.",
  },
  role_not_allowed: {
    title: "The person's role may not call this server",
    text: "An admin can allow the role on the Access page, or change the person's role.",
  },
  declined: {
    title: "The person declined",
    text: "They chose Cancel. Connect again and choose Allow.",
  },
  secret_wrong: {
    title: "The client's secret is missing or wrong",
    text: `It has a secret from its registration and must send it. ${startAgain}`,
  },
  code_unknown: {
    title: "The client sent an unknown code",
    text: "It may be from another instance, or cut off. Connect again.",
  },
  code_used: {
    title: "The client sent the same code twice",
    text: "A code works once; for safety, its tokens were revoked too. Connect again. If it happens each time, two programs share the client's return address.",
  },
  code_expired: {
    title: "The client sent the code too late",
    text: "A code is valid for a minute. Check that the client is reachable at its return address, then connect again.",
  },
  redirect_differs: {
    title: "The client sent a different return address than before",
    text: "The address in the token request must match the authorization request. Update the client.",
  },
  pkce_mismatch: {
    title: "The client's PKCE verifier does not match",
    text: "A different program sent the code, or the client restarted in between. Connect again; close other windows of the client.",
  },
  resource_differs: {
    title: "The client asked for tokens for another server",
    text: `The resource differs from the one the person allowed. ${startAgain}`,
  },
  refresh_unknown: {
    title: "The client's refresh token is no longer valid",
    text: "It has expired, was revoked, or its sign-in was ended. Sign in again.",
  },
  refresh_reused: {
    title: "The client used a refresh token a second time",
    text: "Each works once, so somebody may have copied it: this sign-in was ended. Sign in again. If it happens often, two programs share the client's stored tokens.",
  },
  access_ended: {
    title: "Access has ended",
    text: "It was disconnected, or the person has left the organization or may no longer call this server. Connect again if needed.",
  },
  token_expired: {
    title: "The client kept using an expired token",
    text: "Access tokens live ten minutes, then the client must renew them with its refresh token. Sign in again: after two sign-ins without a renewal, its tokens live 30 days.",
  },
  token_for_other_server: {
    title: "The token is for another server",
    text: "The client sent a token for another server's URL. Check the URL in the client, then sign in again.",
  },
  token_foreign: {
    title: "The token was not issued here",
    text: "It comes from another service or instance, or was changed. Remove it from the client's settings and sign in.",
  },
  token_in_url: {
    title: "The client sent its credentials in the URL",
    text: "URLs end up in logs, so Towpath refuses this. Send them in the Authorization header.",
  },
  scope_missing: {
    title: "The token lacks the scope mcp",
    text: "The client asked for other scopes only. Sign in again.",
  },
  caller_not_allowed: {
    title: "The caller can't call this server",
    text: "The Access page says which roles and keys may. An admin can change it.",
  },
  credentials_unknown: {
    title: "The credentials are not valid",
    text: "They have expired, or are for another server. Admin JWTs live 15 minutes: get a new one on the Admin JWT page.",
  },
  key_unknown: { title: "The API key does not exist", text: `It was deleted or mistyped. ${newKey}` },
  key_revoked: { title: "The API key was revoked", text: newKey },
  key_expired: { title: "The API key has expired", text: newKey },
  key_of_other_team: {
    title: "The API key belongs to another organization",
    text: "Keys work only for their own organization's servers. Use one of this organization's keys.",
  },
  key_for_other_server: {
    title: "The API key was made for other servers",
    text: `It's limited to selected servers, and this isn't one of them. ${newKey}`,
  },
  key_not_allowed: {
    title: "This server does not accept the API key",
    text: "An admin can allow the key, or its owner's role, on the Access page.",
  },
  workload_token_invalid: {
    title: "The workload's token is not valid here",
    text: "Its audience must be this server's URL with /mcp, and it must be current, signed with RS256 or ES256, and valid for a day at most.",
  },
  workload_untrusted: {
    title: "The token's issuer is not trusted, or has not signed it",
    text: "An admin can add a workload identity for the issuer under Settings, API keys. If there is one, compare the issuer and its keys.",
  },
  workload_keys_unreadable: {
    title: "The keys of the token's issuer can't be read",
    text: "The reason is beside the workload identity, under Settings, API keys.",
  },
  workload_not_admitted: {
    title: "No workload identity admits this subject",
    text: "An admin can add one whose pattern matches it, under Settings, API keys.",
  },
  workload_for_other_server: {
    title: "The workload identity is for other servers",
    text: "It's limited to selected servers, and this isn't one of them. An admin can add one for this server.",
  },
  ...assertionProblemTexts,
};

/** What a client did wrong although it got on, and what Towpath did about it. */
export const signInFaultTexts: Readonly<Record<SignInFault, SignInText>> = {
  refresh_raced: {
    title: "Several windows renewed the same tokens at once",
    text: "The client sent one refresh token several times within a minute. Each got the same new token, and the sign-in goes on.",
  },
  refresh_repeated: {
    title: "The client lost the answer to a renewal",
    text: "It sent its earlier refresh token again, and nobody had used the new one. It got tokens, and the sign-in goes on.",
  },
  refresh_early: {
    title: "The client renews tokens that it has just got",
    text: "Its clock may be wrong, or it does not look at expires_in. It keeps its refresh token for a minute at least; set the clock of its machine.",
  },
  refresh_unused: {
    title: "The client does not renew its tokens",
    text: "Its access tokens live 30 days in place of ten minutes. They are checked at each call, so disconnecting the client still works at once.",
  },
  redirect_alias: {
    title: "The client returned to another form of its own address",
    text: "localhost, 127.0.0.1 and [::1] are the same machine, and a slash at the end changes nothing there, so Towpath went on.",
  },
  registered_again: {
    title: "The client registered again",
    text: "It forgot its earlier registration. The person had chosen not to be asked again, so nobody had to do anything.",
  },
  tokens_lost: {
    title: "The client lost its tokens",
    text: "It asked for new ones while the earlier ones were valid. The person had chosen not to be asked again, so nobody had to do anything.",
  },
  resource_inexact: {
    title: "The client asked for tokens for the server's host",
    text: "The resource should be the server's whole URL. The tokens are for the server that the person allowed, and for no other.",
  },
  sign_in_repeated: {
    title: "The client starts over although it got tokens",
    text: "After three times in ten minutes Towpath asked the person again, to end the loop. The client's log says what fails after the sign-in: often a call that is refused with 403, which no new sign-in changes.",
  },
};

/** Why a client got no further although nothing failed: it did nothing more after this step. */
export const signInUnfinishedTexts: Readonly<Record<SignInStepKind, SignInText>> = {
  challenge: {
    title: "The client did nothing after the 401",
    text: "It probably does not support OAuth. Use an API key in its Authorization header, or run it behind mcp-remote.",
  },
  resource_metadata: {
    title: "The client stopped after it read the server's metadata",
    text: "It may not be able to reach this instance's sign-in address. Open that address from where the client runs.",
  },
  server_metadata: {
    title: "The client stopped before it registered",
    text: "It may need a client ID entered by hand, or it couldn't open a browser. Its log says more.",
  },
  registration: {
    title: "The client registered, but sent nobody to sign in",
    text: "It may have failed to open a browser: look for an address to open in its window or its log.",
  },
  authorization: {
    title: "Nobody signed in",
    text: "The sign-in page was closed, or the person has no account. Connect again.",
  },
  sign_in: {
    title: "The person neither allowed nor declined",
    text: "The consent page was closed, or waited longer than 15 minutes. Connect again and choose Allow.",
  },
  consent: {
    title: "The client did not fetch its tokens",
    text: "The browser returned, but the client did not get the answer. Check that it's still running and its return address is reachable, then connect again.",
  },
  token: {
    title: "The client got tokens, but has not called the server",
    text: "Restart the client, or connect the server again.",
  },
  assertion: {
    title: "The client got a token by the company's sign-in, but has not called the server",
    text: "Restart the client, or connect the server again.",
  },
  call: { title: "Connected", text: "" },
  refresh: { title: "Connected", text: "" },
};
