export { deleteSecret } from "./delete-secret.ts";
export { listSecrets } from "./list-secrets.ts";
export { readEnvironment } from "./read-environment.ts";
export { redactor } from "./redactor.ts";
export {
  type InitialSecretsInput,
  initialSecretsSchema,
  secretKeyNameSchema,
  secretValueSchema,
} from "./secret.schema.ts";
export type { SecretView } from "./secret.view.ts";
export { createSecretBox, type SecretBinding, type SecretBox } from "./secret-box.ts";
export { setSecret, setSecrets } from "./set-secret.ts";
