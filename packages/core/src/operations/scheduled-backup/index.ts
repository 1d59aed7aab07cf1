export {
  beginScheduledBackup,
  endScheduledBackup,
  forgetScheduledBackups,
  getScheduledBackup,
  isBackupDue,
  type ScheduledBackupView,
} from "./scheduled-backup.ts";
