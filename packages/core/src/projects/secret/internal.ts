export { insertSecrets } from "./secret.store.ts";
