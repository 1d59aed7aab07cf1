export { type AccessToken, isAccessToken, verifyAccessToken, whyRefused } from "./access-token.ts";
export { type AdminTokenStats, type AdminTokens, createAdminTokens } from "./admin-tokens.ts";
export { apiKeyPrefix, hashApiKey, isWellFormedApiKey, newApiKey } from "./api-key.ts";
export { callerNameHeader, checkCaller, signCallerName, verifyCallerName } from "./caller-name.ts";
export type { ConfirmedCache, SavedConfirmation } from "./confirmed-cache.ts";
export {
  callingRoles,
  createMembershipChecker,
  currentMemberships,
  type Member,
  type Membership,
  type MembershipChecker,
  memberChannel,
} from "./membership.ts";
export {
  createGrantChecker,
  currentGrants,
  type GrantChecker,
  nameOfSignIn,
  type OAuthGrant,
  oauthGrantChannel,
} from "./oauth-grant.ts";
export {
  type ProjectIdentity,
  projectAudience,
  signAdminJwt,
  signCheckJwt,
  signUserJwt,
  verifyProjectJwt,
} from "./project-jwt.ts";
export { createSigningKeys, type SavedKey, type SigningKeys } from "./signing-keys.ts";
export {
  type ApiKeyChecker,
  type ApiKeyGrant,
  type ApiKeyIdentity,
  apiKeyChannel,
  createApiKeyChecker,
  currentApiKeys,
  explainRefusedApiKey,
  verifyApiKey,
} from "./verify-api-key.ts";
export { signWidgetToken } from "./widget-token.ts";
