import type { Database } from "@towpath/db";
import { scheduledBackup } from "@towpath/db/schema";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

const hourMs = 3_600_000;
/** A failed attempt is repeated after this, and one whose worker was killed after `maxHours`. */
const retryHours = 1;
const maxHours = 6;

type Row = typeof scheduledBackup.$inferSelect;

async function readRow(db: Database): Promise<Row | null> {
  const [row] = await db.select().from(scheduledBackup);
  return row ?? null;
}

/** Whether the schedule asks for a back-up. Called by workers, of which one at a time does this. */
export async function isBackupDue(
  db: Database,
  { everyHours, now }: { readonly everyHours: number; readonly now: Date },
): Promise<boolean> {
  const row = await readRow(db);
  if (row === null) return true;
  const pauseHours =
    row.endedAt === null ? maxHours : row.problem === null ? everyHours : Math.min(retryHours, everyHours);
  // The schedule looks several times an hour, at times that differ by seconds.
  return now.getTime() - row.startedAt.getTime() > pauseHours * hourMs - 60_000;
}

/** Called by the worker itself, so there is no actor to authorize; so are the next two. */
export async function beginScheduledBackup(
  db: Database,
  { everyHours, now }: { readonly everyHours: number; readonly now: Date },
): Promise<void> {
  const values = { everyHours, startedAt: now, endedAt: null, problem: null };
  await db
    .insert(scheduledBackup)
    .values({ id: 1, ...values })
    .onConflictDoUpdate({ target: scheduledBackup.id, set: values });
}

/** `made`: null when it failed; earlier ones count further. */
export async function endScheduledBackup(
  db: Database,
  ended: {
    readonly now: Date;
    readonly problem: string | null;
    readonly made: { readonly name: string; readonly bytes: number } | null;
  },
): Promise<void> {
  const { now, problem, made } = ended;
  await db.update(scheduledBackup).set({ endedAt: now, problem, ...(made && { ...made, madeAt: now }) });
}

/** There is no schedule any more. */
export async function forgetScheduledBackups(db: Database): Promise<void> {
  await db.delete(scheduledBackup);
}

export type ScheduledBackupView = {
  /** `late`: the newest is older than two of the schedule's intervals, as when no worker runs. */
  readonly state: "made" | "failed" | "late" | "first";
  readonly everyHours: number;
  readonly madeAt: string | null;
  readonly name: string | null;
  readonly bytes: number | null;
  /** Why the newest attempt failed. */
  readonly problem: string | null;
};

/** The newest scheduled back-up, for admins of an organization; null without a schedule (OPS-3). */
export async function getScheduledBackup({
  ctx,
  input,
}: {
  ctx: Context;
  input: { readonly orgSlug: string };
}): Promise<ScheduledBackupView | null> {
  await authorize(ctx, "organization.manage", { orgSlug: input.orgSlug });
  const row = await readRow(ctx.db);
  if (row === null) return null;
  const { everyHours, name, bytes, problem } = row;
  const view = { everyHours, name, bytes, problem, madeAt: row.madeAt?.toISOString() ?? null };
  return { ...view, state: stateOf(row, ctx.clock.now()) };
}

function stateOf({ problem, madeAt, startedAt, everyHours }: Row, now: Date): ScheduledBackupView["state"] {
  if (problem !== null) return "failed";
  const ageMs = now.getTime() - (madeAt ?? startedAt).getTime();
  if (ageMs > 2 * everyHours * hourMs) return "late";
  return madeAt === null ? "first" : "made";
}
