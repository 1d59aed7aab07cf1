export { type BackedUpInstance, createBackup } from "./create-backup.ts";
export { BackupError } from "./format.ts";
export { restoreBackup } from "./restore-backup.ts";
export { type VerifiedBackup, verifyBackup } from "./verify-backup.ts";
