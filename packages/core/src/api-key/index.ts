export type { ApiKeyView } from "./api-key.view.ts";
export { createApiKey } from "./create-api-key.ts";
export { listApiKeys } from "./list-api-keys.ts";
export { deleteApiKey, revokeApiKey } from "./revoke-api-key.ts";
