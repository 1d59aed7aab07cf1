export type { ApiKeyView, NewApiKeyView } from "./api-key.store.ts";
export { createApiKey, deleteApiKey, listApiKeys, listPersonalApiKeys, revokeApiKey } from "./api-keys.ts";
