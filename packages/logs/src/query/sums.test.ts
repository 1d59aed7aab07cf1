import { randomUUID } from "node:crypto";
import { openDatabase } from "@towpath/db";
import { requestLogDelta } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { describe, expect, test } from "vitest";
import { foldRequestLogs, queryRequestLogs, requestLogStats, writeRequestLogs } from "../index.ts";
import { requestLogRow } from "../testing/rows.ts";
import type { RequestLogRow } from "../write/request-log.row.ts";
import { latencyQuantile } from "./latency.ts";
import type { LogStatsQueryInput } from "./log-query.schema.ts";
import { logQueryFromFilters } from "./log-search.ts";
import { spansOf } from "./spans.ts";

const database = openTestDatabase();

const minute = 60_000;
const hour = 60 * minute;
const write = (rows: RequestLogRow[]) => writeRequestLogs(database.pool, rows);
const foldAll = async (limits = {}) => {
  while ((await foldRequestLogs(database.pool, limits)) > 0);
};
const stats = (query: LogStatsQueryInput) => requestLogStats(database.pool, query);

describe("counting", () => {
  test("LOG-5 late rows count once, rows that are written again do not, folded or not, by several writers", async () => {
    const projectId = randomUUID();
    const now = Date.now();
    const rows = Array.from({ length: 200 }, (_, at) =>
      requestLogRow({ projectId, time: now - (at % 20) * hour, target: `tool ${at % 3}`, durationMs: 1 + at }),
    );
    const expectCount = async (total: number) => {
      const found = await stats({ projectId });
      expect(found.total).toBe(total);
      expect(found.buckets.reduce((sum, bucket) => sum + bucket.total, 0)).toBe(total);
      expect(found.tools.reduce((sum, tool) => sum + tool.total, 0)).toBe(total);
    };
    await write(rows.slice(0, 100));
    await expectCount(100);
    await foldAll();
    await expectCount(100);
    // Half of them once more, and from several sides at once while sums are folded.
    const again = [rows.slice(50, 150), rows.slice(50, 150), rows.slice(100), rows];
    await Promise.all([...again.map(write), foldRequestLogs(database.pool), foldRequestLogs(database.pool)]);
    await expectCount(200);
    await foldAll();
    await expectCount(200);
    await write([requestLogRow({ projectId, time: now - 3 * 24 * hour })]);
    await foldAll();
    await expectCount(200);
    expect((await stats({ projectId, timeRange: "7d" })).total).toBe(201);
  });

  test("LOG-5 a fold that fails changes nothing", async () => {
    const projectId = randomUUID();
    await foldAll();
    await write([requestLogRow({ projectId })]);
    await database.pool.query("ALTER TABLE request_log_hour RENAME TO request_log_hour_hidden");
    try {
      await expect(foldRequestLogs(database.pool)).rejects.toThrow("request_log_hour");
    } finally {
      await database.pool.query("ALTER TABLE request_log_hour_hidden RENAME TO request_log_hour");
    }
    expect((await stats({ projectId })).total).toBe(1);
    expect(await foldRequestLogs(database.pool)).toBe(1);
    expect((await stats({ projectId })).total).toBe(1);
  });

  test("LOG-5 percentiles from histograms are within 6 % of the durations, also after folding", async () => {
    const projectId = randomUUID();
    const durations = Array.from({ length: 999 }, (_, at) => 0.05 * 1.013 ** at);
    await write(
      durations.map((durationMs, at) => requestLogRow({ projectId, durationMs, time: Date.now() - at * minute })),
    );
    const within = (ms: number | null, exact: number) => expect(Math.abs((ms ?? 0) / exact - 1)).toBeLessThan(0.06);
    for (const _ of ["fresh", "folded"]) {
      const found = await stats({ projectId });
      within(found.p50Ms, durations[499] as number);
      within(found.p95Ms, durations[949] as number);
      await foldAll();
    }
    expect(latencyQuantile([], 0.5)).toBeNull();
  });

  test("PRJ-5 LOG-5 GW-8 refusals of the gateway are no errors of the server, and have a filter of their own; status:error finds both", async () => {
    const projectId = randomUUID();
    const failure = { projectId, isError: true } as const;
    await write([
      requestLogRow({ projectId }),
      requestLogRow({ ...failure, outcome: "gateway_error", httpStatus: 401 }),
      requestLogRow({ ...failure, outcome: "gateway_error", httpStatus: 429 }),
      requestLogRow({ ...failure, outcome: "gateway_error", httpStatus: 429 }),
      requestLogRow({ ...failure, outcome: "gateway_error", httpStatus: 503 }),
      requestLogRow({ ...failure, outcome: "tool_error" }),
      // The server's own limit is its answer.
      requestLogRow({ ...failure, outcome: "http_error", httpStatus: 429 }),
    ]);
    for (const _ of ["fresh", "folded"]) {
      expect(await stats({ projectId })).toMatchObject({ total: 7, errors: 3, refused: 3, limited: 2 });
      const statuses = async (filter: object) =>
        (await queryRequestLogs(database.pool, { projectId, ...filter })).data.map(({ httpStatus }) => httpStatus);
      expect(await stats({ projectId, isError: true })).toMatchObject({ total: 3, errors: 3, refused: 0 });
      expect((await statuses({ isError: true })).toSorted()).toEqual([200, 429, 503]);
      const refused = { total: 3, errors: 0, refused: 3, limited: 2 };
      expect(await stats({ projectId, isRefused: true })).toMatchObject(refused);
      expect((await statuses({ isRefused: true })).toSorted()).toEqual([401, 429, 429]);
      expect(await statuses({ isError: false })).toHaveLength(4);
      // The meaning of status:error: all failures, including refusals.
      const asked = logQueryFromFilters({ status: "error", methodType: "all" }, true);
      const failed = await stats({ projectId, ...asked } as LogStatsQueryInput);
      expect(failed).toMatchObject({ total: 6, errors: 3, refused: 3 });
      expect(failed.buckets.filter(({ total }) => total > 0)).toMatchObject([{ total: 6, errors: 3, refused: 3 }]);
      expect(await statuses(asked)).toHaveLength(6);
      expect(await statuses(logQueryFromFilters({ status: "ok", methodType: "all" }, true))).toHaveLength(1);
      const { data } = await queryRequestLogs(database.pool, { projectId });
      expect(data.filter(({ isError }) => isError)).toHaveLength(3);
      expect(data.filter(({ isRefused }) => isRefused)).toHaveLength(3);
      await foldAll();
    }
  });

  test("LOG-5 a tenant's made-up names can't fill a table: the rest counts without a name, and is still found", async () => {
    const projectId = randomUUID();
    const deploymentId = randomUUID();
    const rows = Array.from({ length: 60 }, (_, at) =>
      requestLogRow({
        projectId,
        deploymentId,
        target: `made up ${at}`,
        session: `session ${at}`,
        isError: true,
        errorMessage: `message ${at}`,
        time: Date.now() - at,
      }),
    );
    await write(rows);
    await foldAll({ maxNewSeries: 10, maxNewCallers: 10, maxNewMessages: 10 });
    for (const table of ["request_log_series", "request_log_caller", "request_log_message"]) {
      const { rows: kept } = await database.pool.query(
        `SELECT count(*)::int AS n FROM ${table} WHERE project_id = $1`,
        [projectId],
      );
      expect([table, kept[0].n]).toEqual([table, 11]);
    }
    expect(await stats({ projectId })).toMatchObject({ total: 60, errors: 60 });
    const found = async (query: object) => (await queryRequestLogs(database.pool, { projectId, ...query })).data.length;
    for (const at of [0, 31, 59]) {
      expect(await found({ toolName: `made up ${at}` })).toBe(1);
      for (const search of [`made up ${at}`, `session ${at}`, `message ${at}`])
        expect(await found({ search })).toBe(rows.filter((row) => row.target?.startsWith(`made up ${at}`)).length);
    }
    expect(await found({ toolName: "made up 60" })).toBe(0);
  });

  test("LOG-5 folding new callers reads the day's callers once, not once for each", async () => {
    const projectId = randomUUID();
    const deploymentId = randomUUID();
    const newSessions = (count: number) =>
      Array.from({ length: count }, () => requestLogRow({ projectId, deploymentId, session: randomUUID() }));
    const entriesRead = async () => {
      const { rows } = await database.pool.query(
        "SELECT pg_stat_force_next_flush(), sum(idx_tup_read)::int AS read FROM pg_stat_user_indexes WHERE relname = 'request_log_caller'",
      );
      return rows[0].read;
    };
    await write(newSessions(2000));
    await foldAll();
    await write(newSessions(2000));
    const before = await entriesRead();
    await foldAll();
    await expect.poll(entriesRead).toBeGreaterThan(before + 1999);
    expect((await entriesRead()) - before).toBeLessThan(20_000);
  });

  test("LOG-5 without a worker, writers fold: sums that wait don't pile up", async () => {
    await foldAll();
    const projectId = randomUUID();
    // A separate pool, whose first write checks.
    const writer = openDatabase(database.url).pool;
    try {
      await database.pool.query(
        `INSERT INTO request_log_delta (project_id, first_minute, last_minute, series, caller_deployments, caller_sessions,
           caller_principals, caller_client_names, caller_client_versions, caller_first_seen, caller_last_seen,
           caller_calls, caller_errors, caller_refused)
         SELECT $1, now(), now(), '[]', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'
         FROM generate_series(1, 3000)`,
        [projectId],
      );
      await writeRequestLogs(writer, [requestLogRow({ projectId })]);
      const waiting = () => database.db.$count(requestLogDelta);
      await expect.poll(waiting, { timeout: 30_000 }).toBeLessThanOrEqual(1000);
      await foldAll();
      expect((await stats({ projectId })).total).toBe(1);
    } finally {
      await writer.end();
    }
  });

  test("LOG-5 names with the same hash don't block the sums of others", async () => {
    const projectId = randomUUID();
    const deploymentId = randomUUID();
    const call = { projectId, deploymentId, isError: true };
    await write([
      requestLogRow({ ...call, method: "overflow", target: "overflow" }),
      requestLogRow({ ...call, method: "overflow", target: "overflow" }),
      ...["a", "b", "c"].map((target) => requestLogRow({ ...call, target })),
    ]);
    await foldAll({ maxNewSeries: 1 });
    expect((await stats({ projectId })).total).toBe(5);

    // No two texts of the same hash are known to us: the database's hash is replaced by one that always collides.
    const other = randomUUID();
    await database.pool.query(`
      CREATE SCHEMA colliding;
      CREATE FUNCTION colliding.hashtextextended(text, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 7::bigint'`);
    const pool = openDatabase(database.url.replace("?", "?options=-csearch_path%3Dcolliding,pg_catalog,public&")).pool;
    try {
      await write(
        ["a", "b"].map((name) => requestLogRow({ projectId: other, target: name, session: name, errorMessage: name })),
      );
      while ((await foldRequestLogs(pool)) > 0);
      expect((await stats({ projectId: other })).total).toBe(2);
      const { rows } = await pool.query("SELECT calls::int, id::int FROM request_log_caller WHERE project_id = $1", [
        other,
      ]);
      expect(rows).toEqual([{ calls: 2, id: 7 }]);
    } finally {
      await pool.end();
    }
  });

  test("LOG-1 callers are counted by session, principal and client, with first and last call", async () => {
    const projectId = randomUUID();
    const start = Math.floor(Date.now() / (10 * minute)) * 10 * minute - hour;
    const call = { projectId, session: "one", principal: "user:1" };
    await write([
      requestLogRow({ ...call, time: start }),
      requestLogRow({ ...call, time: start + 25 * minute, isError: true }),
    ]);
    await foldAll();
    await write([
      requestLogRow({ ...call, time: start + 5 * minute }),
      requestLogRow({ ...call, time: start, session: null }),
    ]);
    await foldAll();
    // The rows have separate deployments: a session belongs to one.
    const { rows } = await database.pool.query(
      `SELECT session, principal, sum(calls)::int AS calls, sum(errors)::int AS errors, min(first_seen) AS first,
         max(last_seen) AS last FROM request_log_caller WHERE project_id = $1 GROUP BY 1, 2 ORDER BY 1`,
      [projectId],
    );
    expect(rows).toEqual([
      {
        session: "one",
        principal: "user:1",
        calls: 3,
        errors: 1,
        first: new Date(start),
        last: new Date(start + 25 * minute),
      },
      { session: null, principal: "user:1", calls: 1, errors: 0, first: new Date(start), last: new Date(start) },
    ]);
    const slots = await database.pool.query(
      "SELECT time, sum(calls)::int AS calls FROM request_log_caller_slot WHERE project_id = $1 GROUP BY 1 ORDER BY 1",
      [projectId],
    );
    expect(slots.rows).toEqual([
      { time: new Date(start), calls: 3 },
      { time: new Date(start + 20 * minute), calls: 1 },
    ]);
  });

  test("LOG-3 sums are in the partition of their day, and are deleted with its rows", async () => {
    const projectId = randomUUID();
    const time = Date.now() - 20 * 24 * hour;
    const day = new Date(time).toISOString().slice(0, 10).replaceAll("-", "");
    await write([requestLogRow({ projectId, time })]);
    await foldAll();
    for (const level of ["minute", "ten_minutes", "hour", "half_day", "caller_slot"]) {
      const { rows } = await database.pool.query(
        `SELECT tableoid::regclass::text AS name FROM request_log_${level} WHERE project_id = $1`,
        [projectId],
      );
      expect(rows).toEqual([{ name: `request_log_${level}_${day}` }]);
    }
  });
});

test("LOG-5 a period is cut into the coarsest spans that fit, without gap or overlap", () => {
  const from = Date.UTC(2026, 0, 1, 10, 58);
  const to = Date.UTC(2026, 0, 3, 1, 21);
  const spans = spansOf(from, to);
  expect(spans.map((span) => span.level)).toEqual([0, 2, 3, 2, 1, 0]);
  expect(spans[0]?.from).toBe(from);
  expect(spans.at(-1)?.to).toBe(to);
  for (const [at, span] of spans.slice(1).entries()) expect(span.from).toBe(spans[at]?.to);
  expect(spansOf(from, from)).toEqual([]);
});
