export { type BackupSchedule, backupScheduleSchema } from "./config.ts";
export { type BackedUpInstance, createBackup } from "./create-backup.ts";
export { BackupError } from "./format.ts";
export { restoreBackup } from "./restore-backup.ts";
export { makeScheduledBackup } from "./scheduled-backup.ts";
export { type VerifiedBackup, verifyBackup } from "./verify-backup.ts";
