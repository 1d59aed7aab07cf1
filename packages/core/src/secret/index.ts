export { createSecretBox, type SecretBox } from "../secret-box/index.ts";
export { deleteSecret, listSecrets } from "./list-secrets.ts";
export { readEnvironment, redactor } from "./read-environment.ts";
export { secretKeyNameSchema } from "./secret.schema.ts";
export type { SecretView } from "./secret.store.ts";
export { setSecret, setSecrets } from "./set-secret.ts";
