export type { RootSecrets } from "@towpath/crypto";
export { rootSecretsFrom, secretSettings } from "./config.ts";
export { ensureDataKey, findDataKey } from "./data-keys.ts";
export { checkDatabase, guardDatabase } from "./master-keys.ts";
export { finishRotation, rotateMasterKeys } from "./rotate.ts";
export { createSecretBox, type SecretBox, valueBytes } from "./secret-box.ts";
export { openDeployKey, openSourceSecret, sealDeployKey, sealSourceSecret } from "./source-credential.ts";
export { openSecrets, readDeploymentSecrets, type StoredSecrets, versionsOf } from "./stored-secrets.ts";
export { openUpstreamCredential, sealUpstreamCredential } from "./upstream-credential.ts";
