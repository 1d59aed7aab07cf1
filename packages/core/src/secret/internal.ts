export { insertSecrets, requireSecretBox } from "./secret.store.ts";
