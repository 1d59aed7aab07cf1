export { revokeKeysOfCreator } from "./api-keys.ts";
