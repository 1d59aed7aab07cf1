export { insertApiKey, revokeKeysOfCreator } from "./api-keys.ts";
