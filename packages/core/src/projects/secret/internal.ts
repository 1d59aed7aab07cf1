export { insertSecrets, requireFitting } from "./secret.store.ts";
