export { equalInConstantTime, hmacSha256, randomToken, sha256 } from "./digest.ts";
export {
  createWraps,
  type MasterKeys,
  masterKeyOf,
  masterKeysOf,
  openWraps,
  type RootSecrets,
  rewrap,
  type Wraps,
  WrongMasterKey,
} from "./envelope.ts";
export { deriveKey, keyPurposes } from "./keys.ts";
export { open, openWithKeyId, seal, sealWithKeyId } from "./seal.ts";
export { createSshKey, openSshKey, readStrings, sshString } from "./ssh-key.ts";
