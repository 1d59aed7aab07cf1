export {
  type ApiKeyView,
  apiKeyViewSchema,
  type NewApiKeyView,
  newApiKeySchema,
  personSchema,
} from "./api-key.store.ts";
export { createApiKey, deleteApiKey, listApiKeys, listPersonalApiKeys, revokeApiKey } from "./api-keys.ts";
