import type { Database } from "@towpath/db";
import { erasure } from "@towpath/db/schema";
import { and, eq, lte, type SQL, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { type Removal, runParts, type SweepInput } from "./sweep-parts.ts";

type Kind = "project" | "deployment" | "build";

/** A table that refers to a row without a foreign key. `key`: columns that identify its rows across partitions. */
type Reference = { readonly kind: Kind; readonly table: string; readonly column: string; readonly key: string };

/** A test compares this list with the database. */
export const logReferences: readonly Reference[] = [
  { kind: "project", table: "request_log", column: "project_id", key: "project_id, time, id" },
  { kind: "project", table: "request_log_delta", column: "project_id", key: "id" },
  { kind: "project", table: "request_log_failure", column: "project_id", key: "id" },
  { kind: "project", table: "request_log_series", column: "project_id", key: "project_id, id" },
  { kind: "project", table: "request_log_minute", column: "project_id", key: "project_id, time, series_id" },
  { kind: "project", table: "request_log_ten_minutes", column: "project_id", key: "project_id, time, series_id" },
  { kind: "project", table: "request_log_hour", column: "project_id", key: "project_id, time, series_id" },
  { kind: "project", table: "request_log_half_day", column: "project_id", key: "project_id, time, series_id" },
  { kind: "project", table: "request_log_caller", column: "project_id", key: "project_id, id" },
  { kind: "project", table: "request_log_caller_slot", column: "project_id", key: "project_id, time, caller_id" },
  { kind: "project", table: "request_log_message", column: "project_id", key: "project_id, id" },
  { kind: "project", table: "request_log_session", column: "project_id", key: "project_id, key, first_seen" },
  { kind: "project", table: "request_log_user", column: "project_id", key: "project_id, id" },
  { kind: "project", table: "request_log_user_hour", column: "project_id", key: "project_id, user_id, time" },
  { kind: "project", table: "request_log_activity", column: "project_id", key: "project_id, seconds, time" },
  { kind: "deployment", table: "server_log", column: "deployment_id", key: "time, id" },
  { kind: "build", table: "build_log", column: "build_id", key: "build_id, line" },
];

const batchRows = 5000;
/** Statements per table and subject in one sweep; the next one continues. */
const maxBatches = 20;
const maxSubjects = 100;
const lookAgainMs = 3_600_000;
/** Gateways and runners buffer rows while the database is unavailable. Later rows are dropped with their day. */
const lateForMs = 86_400_000;

/** Erases the logs of deleted rows. Repeats for a day, because log rows may still arrive. */
export async function eraseLogs({ ctx, input }: Call<SweepInput>): Promise<Removal> {
  authorizePlatform(ctx);
  const due = await ctx.db
    .select()
    .from(erasure)
    .where(lte(erasure.nextAt, input.now))
    .orderBy(sql`random()`)
    .limit(maxSubjects);
  return runParts(
    input,
    due.flatMap((each) => [
      ...logReferences
        .filter(({ kind }) => kind === each.kind)
        .map((reference) => ({
          name: reference.table,
          run: () => eraseRows(ctx.db, reference, each.subjectId, input.signal),
        })),
      { name: "erasure", run: () => settle(ctx.db, each, input.now) },
    ]),
  );
}

async function eraseRows(
  db: Database,
  reference: Reference,
  subjectId: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0;
  for (let batch = 0; batch < maxBatches && !signal?.aborted; batch++) {
    const { rowCount } = await db.execute(
      sql`DELETE FROM ${sql.identifier(reference.table)} WHERE (${sql.raw(reference.key)}) IN (
        SELECT ${sql.raw(reference.key)} FROM ${rowsOf(reference, subjectId)} LIMIT ${batchRows})`,
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < batchRows) break;
  }
  return removed;
}

const rowsOf = (reference: Reference, subjectId: string): SQL =>
  sql`${sql.identifier(reference.table)} WHERE ${sql.identifier(reference.column)} = ${subjectId}::uuid`;

/** Deletes the erasure when no rows are left and none can arrive any more, else schedules the next check. */
async function settle(db: Database, each: typeof erasure.$inferSelect, now: Date): Promise<number> {
  for (const reference of logReferences.filter(({ kind }) => kind === each.kind)) {
    const { rows } = await db.execute(sql`SELECT 1 FROM ${rowsOf(reference, each.subjectId)} LIMIT 1`);
    if (rows.length > 0) return 0;
  }
  const subject = and(eq(erasure.kind, each.kind), eq(erasure.subjectId, each.subjectId));
  // Nothing can be appended to a deleted build's log.
  const isFinal = each.kind === "build" || now.getTime() - each.requestedAt.getTime() > lateForMs;
  if (isFinal) return (await db.delete(erasure).where(subject)).rowCount ?? 0;
  await db
    .update(erasure)
    .set({ nextAt: new Date(now.getTime() + lookAgainMs) })
    .where(subject);
  return 0;
}
