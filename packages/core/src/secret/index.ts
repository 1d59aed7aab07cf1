export { readEnvironment } from "./read-environment.ts";
export { redactor } from "./redactor.ts";
export {
  type EnvironmentVariablesInput,
  environmentVariablesSchema,
  secretKeyNameSchema,
  secretValueSchema,
} from "./secret.schema.ts";
export { createSecretBox, type SecretBinding, type SecretBox } from "./secret-box.ts";
