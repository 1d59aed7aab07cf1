import type { Database, Transaction } from "@towpath/db";
import { type RetentionMoment, retentionRules } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { type Removal, runParts, type SweepInput } from "./sweep-parts.ts";

/** Rows per statement, which locks them for some milliseconds. */
const batchRows = 1000;
/** Statements per table in one sweep. */
const maxBatches = 20;

/** Removes expired rows of the tables with such a rule (see `retentionRules`). */
export async function removeExpired({ ctx, input }: Call<SweepInput>): Promise<Removal> {
  authorizePlatform(ctx);
  return runParts(
    input,
    Object.entries(retentionRules).flatMap(([table, rule]) =>
      rule.until === "expired" ? [{ name: table, run: () => removeRows(ctx.db, table, rule.condition(input)) }] : [],
    ),
  );
}

/** Deletes the rows that match the condition, in batches. Skips locked rows. */
async function removeRows(db: Database, table: string, condition: ReturnType<typeof sql>): Promise<number> {
  const name = sql.identifier(table);
  let removed = 0;
  for (let batch = 0; batch < maxBatches; batch++) {
    const { rowCount } = await db.execute(
      sql`DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE ${condition} LIMIT ${batchRows} FOR UPDATE SKIP LOCKED))`,
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < batchRows) break;
  }
  return removed;
}

/** Drops the daily partitions of the logs that end before the cutoff (LOG-3). */
export async function dropLogDays({ ctx, input }: Call<SweepInput>): Promise<Removal> {
  authorizePlatform(ctx);
  return runParts(
    input,
    Object.entries(retentionRules).flatMap(([table, rule]) =>
      rule.until === "days"
        ? [{ name: table, run: () => dropDays(ctx.db, table, input, rule.days(input.policy)) }]
        : [],
    ),
  );
}

async function dropDays(db: Database, table: string, moment: RetentionMoment, days: number): Promise<number> {
  const cutoff = new Date(moment.now.getTime() - days * 86_400_000).toISOString().slice(0, 10);
  const { rows } = await db.execute<{ name: string }>(
    sql`SELECT child.relname AS name FROM pg_inherits
      JOIN pg_class child ON child.oid = inhrelid WHERE inhparent = ${table}::regclass ORDER BY child.relname`,
  );
  let removed = 0;
  for (const { name } of rows) {
    const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
    if (year !== undefined && `${year}-${month}-${day}` < cutoff) removed += await dropPartition(db, name);
  }
  // Rows whose day had no partition in time.
  removed += await removeRows(db, `${table}_default`, sql`time < ${cutoff}::date::timestamp AT TIME ZONE 'UTC'`);
  return removed;
}

/**
 * Dropping briefly locks the parent table. Gives up soon when a long query holds it, because other queries would queue
 * behind this lock; the next sweep tries again.
 */
async function dropPartition(db: Database, name: string): Promise<number> {
  const partition = sql.identifier(name);
  return db.transaction(async (tx: Transaction) => {
    await tx.execute(sql`SET LOCAL lock_timeout = '1s'`);
    const { rows } = await tx.execute<{ n: string }>(
      sql`SELECT greatest(reltuples, 0)::bigint AS n FROM pg_class WHERE oid = ${name}::regclass`,
    );
    await tx.execute(sql`DROP TABLE ${partition}`);
    return Number(rows[0]?.n ?? 0);
  });
}
