export { type AdminIdentity, adminJwtMaxSeconds, signAdminJwt, verifyAdminJwt } from "./admin-jwt.ts";
export { apiKeyPrefix, hashApiKey, isWellFormedApiKey, newApiKey } from "./api-key.ts";
export {
  type ApiKeyChecker,
  type ApiKeyIdentity,
  apiKeyChannel,
  createApiKeyChecker,
  verifyApiKey,
} from "./verify-api-key.ts";
