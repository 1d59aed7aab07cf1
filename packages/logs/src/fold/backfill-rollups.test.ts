import { randomUUID } from "node:crypto";
import { migrateDatabase } from "@towpath/db";
import { requestLogDelta } from "@towpath/db/schema";
import { migrateOnlyTo, openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { backfillRollups, foldRequestLogs, queryRequestLogs, requestLogStats, writeRequestLogs } from "../index.ts";
import { requestLogRow } from "../testing/rows.ts";

/** One every five seconds, so that they reach almost three days back: ten batches. */
const rows = 50_000;
const projectId = randomUUID();

const database = openTestDatabase();

/** Rows of the previous version: three days with partitions, and some rows in the default one. */
async function fillAsBefore(): Promise<void> {
  await database.pool.query(
    "SELECT towpath_ensure_log_partitions(day::date) FROM generate_series(now() - interval '1 day', now(), interval '1 day') day",
  );
  await database.pool.query(
    `INSERT INTO request_log (id, time, organization_id, project_id, deployment_id, kind, http_method, method, target,
       http_status, is_error, outcome, duration_ms, request_bytes, response_bytes, session, principal)
     SELECT gen_random_uuid(), now() - interval '1 minute' - n * interval '5 seconds', $1, $1, $1, 'request', 'POST', 'tools/call',
       'tool_' || n % 7, 200, n % 10 = 0, 'ok', 5, 1, 1, 'session ' || n / 100, 'anonymous'
     FROM generate_series(1, $2::int) AS n`,
    [projectId, rows],
  );
}

const totals = async () => (await requestLogStats(database.pool, { projectId, timeRange: "7d" })).total;

test.runIf(isThorough)(
  "LOG-5 an upgrade leaves existing rows where they are, and they are counted once in batches, beside new ones",
  async () => {
    await migrateOnlyTo(database, "0006_retention");
    await fillAsBefore();
    const placed = async () =>
      (
        await database.pool.query(
          `SELECT relname, relfilenode, pg_relation_size(oid) AS bytes FROM pg_class
         WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'request_log'::regclass)
           AND pg_relation_size(oid) > 0 ORDER BY relname`,
        )
      ).rows;
    const was = await placed();
    await migrateDatabase(database.url);
    // No row was written again while the table was locked.
    expect(await placed()).toEqual(was);
    expect(await database.db.$count(requestLogDelta)).toBe(0);
    // The newest page doesn't wait for sums, and what is written from now on counts at once.
    expect((await queryRequestLogs(database.pool, { projectId })).data).toHaveLength(100);
    await writeRequestLogs(database.pool, [requestLogRow({ projectId })]);
    expect(await totals()).toBe(1);

    // Newest first, so that the pages people open are right first.
    expect(await backfillRollups(database.pool)).toBe(5000);
    expect((await requestLogStats(database.pool, { projectId, timeRange: "1h" })).total).toBeGreaterThan(690);
    // Two workers, one of which is killed during a batch.
    const killed = await database.pool.connect();
    await killed.query("BEGIN");
    await killed.query("SET LOCAL towpath.backfill_rollups = 'on'");
    await killed.query(
      "UPDATE request_log SET needs_rollup = NULL WHERE needs_rollup AND time < now() - interval '2 days'",
    );
    killed.release(true);
    const work = async () => {
      let counted = 0;
      for (let batch = 1; batch > 0; counted += batch) {
        batch = await backfillRollups(database.pool);
        await foldRequestLogs(database.pool);
      }
      return counted;
    };
    await Promise.all([work(), work()]);
    await work();
    while ((await foldRequestLogs(database.pool)) > 0);
    expect(await totals()).toBe(rows + 1);
    expect(
      (await queryRequestLogs(database.pool, { projectId, timeRange: "7d", toolName: "tool_3", offset: 7000 })).data,
    ).toHaveLength(100);
    // Another change of rows counts nothing.
    await database.pool.query("UPDATE request_log SET trace_id = 'x' WHERE time > now() - interval '1 hour'");
    expect(await totals()).toBe(rows + 1);
    expect(await backfillRollups(database.pool)).toBe(0);
    // Marks that are newer than where this process is, as a failed batch of another worker leaves them, are found too.
    const project = randomUUID();
    await database.pool.query("UPDATE request_log SET needs_rollup = true WHERE time < now() - interval '2 days'");
    expect(await backfillRollups(database.pool)).toBe(5000);
    await database.pool.query(
      `INSERT INTO request_log (id, time, organization_id, project_id, kind, http_method, http_status, is_error, outcome,
       duration_ms, request_bytes, response_bytes, principal, needs_rollup)
     VALUES ($1, now(), $1, $1, 'request', 'POST', 200, false, 'ok', 1, 1, 1, 'anonymous', true)`,
      [project],
    );
    await work();
    expect((await requestLogStats(database.pool, { projectId: project })).total).toBe(2);
  },
  120_000,
);
