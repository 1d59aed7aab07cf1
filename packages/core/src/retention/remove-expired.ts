import type { Database, Transaction } from "@towpath/db";
import { type RetentionMoment, retentionRules } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { type Removal, runParts, type SweepInput } from "./sweep-parts.ts";

/** Rows of one statement: it holds their locks for some milliseconds. */
const batchRows = 1000;
/** Statements per table and round. */
const maxBatches = 20;

/** Removes the rows whose tables say when they expire (see `retentionRules`). */
export async function removeExpired(call: { ctx: Context; input: SweepInput }): Promise<Removal> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  return runParts(
    input,
    Object.entries(retentionRules).flatMap(([table, rule]) =>
      rule.until === "expired" ? [{ name: table, run: () => removeRows(ctx.db, table, rule.condition(input)) }] : [],
    ),
  );
}

/** Deletes what holds, in batches, oldest pages first, passing over rows that somebody has locked. */
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

/** Days of the partitioned logs: a partition that ends before the cutoff is dropped whole (LOG-3). */
export async function dropLogDays(call: { ctx: Context; input: SweepInput }): Promise<Removal> {
  const { ctx, input } = call;
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
  // Rows whose day had no partition in time. They age out here; until then they hold up nothing but that day.
  removed += await removeRows(db, `${table}_default`, sql`time < ${cutoff}::date::timestamp AT TIME ZONE 'UTC'`);
  return removed;
}

/**
 * Dropping takes the parent's lock for an instant. Behind a long query it gives up at once, because everybody else
 * would wait behind it; the next round tries again.
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
