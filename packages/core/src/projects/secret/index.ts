export { decryptSecret } from "./decrypt-secret.ts";
export { listChangedSecrets } from "./list-changed-secrets.ts";
export { deleteSecret, listSecrets } from "./list-secrets.ts";
export { pinEnvironment } from "./pin-environment.ts";
export { readValuesToRedact } from "./read-values-to-redact.ts";
export { secretKeyNameSchema } from "./secret.schema.ts";
export { type SecretView, secretViewSchema } from "./secret.store.ts";
export { createSecret, setSecrets, updateSecret } from "./set-secret.ts";
