export { apiKeyPrefix, hashApiKey, isWellFormedApiKey, newApiKey } from "./api-key.ts";
export {
  callingRoles,
  createMembershipChecker,
  currentMemberships,
  type Membership,
  type MembershipChecker,
} from "./membership.ts";
export {
  type ProjectIdentity,
  signAdminJwt,
  signUserJwt,
  verifyProjectJwt,
} from "./project-jwt.ts";
export {
  type ApiKeyChecker,
  type ApiKeyIdentity,
  apiKeyChannel,
  createApiKeyChecker,
  currentApiKeys,
  verifyApiKey,
} from "./verify-api-key.ts";
