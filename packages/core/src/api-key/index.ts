export type { ApiKeyView } from "./api-key.store.ts";
export { createApiKey, deleteApiKey, listApiKeys, revokeApiKey } from "./api-keys.ts";
