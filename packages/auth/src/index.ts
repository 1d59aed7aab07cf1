export { type AuthConfig, clientAddressHeader, passwordMinLength, signInProblemPath } from "./auth.ts";
export {
  type Auth,
  type CredentialProblem,
  type CredentialResult,
  createAuth,
  type SignedIn,
  type SignUpInput,
} from "./create-auth.ts";
export { type OidcSettings, oidcCallbackPath, oidcProviderId } from "./oidc.ts";
export { createOneTimeState, takeOneTimeState } from "./one-time-state.ts";
export { safeReturnPath } from "./return-path.ts";
export {
  deleteSessionSecret,
  readSessionSecret,
  type SessionSecretName,
  storeSessionSecret,
} from "./session-secret.ts";
export type { SignInStart } from "./sign-in.ts";
