import { type BackedUpInstance, BackupError, type BackupSchedule, makeScheduledBackup } from "@towpath/backup";
import {
  beginScheduledBackup,
  endScheduledBackup,
  forgetScheduledBackups,
  isBackupDue,
} from "@towpath/core/operations/scheduled-backup";
import type { Database } from "@towpath/db";
import type { Logger } from "pino";

export type BackUps = { readonly instance: BackedUpInstance; readonly schedule: BackupSchedule };

/** Makes a back-up if one is due, and records the result. One worker at a time does this. */
export async function backUpIfDue(
  { db, log }: { readonly db: Database; readonly log: Logger },
  { instance, schedule }: BackUps,
  signal: AbortSignal,
): Promise<void> {
  if (schedule === null) return forgetScheduledBackups(db);
  const now = new Date();
  const { everyHours } = schedule;
  if (!(await isBackupDue(db, { everyHours, now }))) return;
  await beginScheduledBackup(db, { everyHours, now });
  try {
    const { removed, ...made } = await makeScheduledBackup(instance, schedule, { now, signal });
    await endScheduledBackup(db, { now: new Date(), problem: null, made });
    log.info({ ...made, removed }, "made a back-up");
  } catch (error) {
    const problem = error instanceof BackupError ? error.message : "An internal error; the worker's log has the cause.";
    await endScheduledBackup(db, {
      now: new Date(),
      problem: signal.aborted ? "The worker was stopped." : problem,
      made: null,
    });
    throw error;
  }
}
