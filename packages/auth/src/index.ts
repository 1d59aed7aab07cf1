export { clientAddressHeader, signInProblemPath } from "./auth.ts";
export {
  type Auth,
  type CredentialProblem,
  createAuth,
  type SignedIn,
} from "./create-auth.ts";
export { oidcProviderId } from "./oidc.ts";
export { createOneTimeState, takeOneTimeState } from "./one-time-state.ts";
export type { AccountProblem, AccountResult, SecondFactorState } from "./own-account.ts";
export { limitRequests } from "./request-limit.ts";
export { safeReturnPath } from "./return-path.ts";
export { reencryptTwoFactors } from "./secrets.ts";
export {
  deleteSessionSecret,
  readSessionSecret,
  storeSessionSecret,
} from "./session-secret.ts";
export type { SessionView } from "./sessions.ts";
