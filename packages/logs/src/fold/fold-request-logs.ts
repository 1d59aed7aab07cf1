import type { Pool, PoolClient } from "pg";
import { inTurn } from "../write/transaction.ts";
import { callingCte, keepCallersCtes } from "./callers.sql.ts";
import { keepMessagesCte, writtenMessagesCte } from "./messages.sql.ts";
import { namesCtes } from "./names.sql.ts";
import { cellsCte, keepSeriesCtes } from "./series.sql.ts";
import { keepSessionsCtes } from "./sessions.sql.ts";

/** Limits of a project's new names in a day (UTC). */
type FoldLimits = { readonly maxNewSeries: number; readonly maxNewCallers: number; readonly maxNewMessages: number };
const defaultLimits: FoldLimits = { maxNewSeries: 2000, maxNewCallers: 50_000, maxNewMessages: 2000 };

const deltasPerTransaction = 500;

/**
 * Folds the database's sums of each written batch (`request_log_delta`) into the roll-ups, each exactly once: the
 * transaction that adds a sum deletes it. Processes take turns; if another one is running, returns 0.
 *
 * @returns the number of folded sums. Call again at once while it is not 0.
 */
export async function foldRequestLogs(pool: Pool, limits: Partial<FoldLimits> = {}): Promise<number> {
  const folded = await inTurn(pool, "towpath_fold_request_logs", (client) =>
    foldOnce(client, { ...defaultLimits, ...limits }),
  );
  return folded ?? 0;
}

const maxUnfolded = 1000;
const checkEveryMs = 10_000;
const nextChecks = new WeakMap<Pool, number>();

/**
 * Folds if more than 1000 sums wait, at most every ten seconds for a pool. Writers call it: without a worker, sums
 * would pile up, and each reader adds up the unfolded ones. Writes don't await it; a failure recurs at the next check.
 */
export async function foldIfBehind(pool: Pool): Promise<void> {
  const now = Date.now();
  if (now < (nextChecks.get(pool) ?? 0)) return;
  nextChecks.set(pool, now + checkEveryMs);
  try {
    let folded = 1;
    while (folded > 0 && (await isBehind(pool))) folded = await foldRequestLogs(pool);
  } catch {
    // The rows and their sums are written; the next fold meets the same error and reports it.
  }
}

async function isBehind(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(`SELECT FROM request_log_delta ORDER BY id LIMIT 1 OFFSET ${maxUnfolded}`);
  return rowCount === 1;
}

const takenCte = `
  taken AS MATERIALIZED (
    DELETE FROM request_log_delta WHERE id IN (SELECT id FROM request_log_delta ORDER BY id LIMIT $1) RETURNING *
  )`;

/** Collects sums, limits names, and adds to the roll-ups. One statement, so that each sum counts exactly once. */
const foldSql = `
  WITH ${[
    takenCte,
    cellsCte,
    callingCte,
    writtenMessagesCte,
    namesCtes,
    keepSeriesCtes,
    keepCallersCtes,
    keepMessagesCte,
    keepSessionsCtes,
  ].join(", ")}
  SELECT count(*)::int AS folded FROM taken`;

async function foldOnce(client: PoolClient, limits: FoldLimits): Promise<number> {
  const { maxNewSeries, maxNewCallers, maxNewMessages } = limits;
  const { rows } = await client.query(foldSql, [deltasPerTransaction, maxNewSeries, maxNewCallers, maxNewMessages]);
  return rows[0].folded;
}
