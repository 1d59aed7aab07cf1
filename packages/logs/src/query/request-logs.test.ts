import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, describe, expect, test } from "vitest";
import {
  foldRequestLogs,
  queryRequestLogs,
  readRequestLog,
  readServerLogs,
  requestLogStats,
  writeRequestLogs,
  writeServerLogs,
} from "../index.ts";
import { requestLogRow } from "../testing/rows.ts";
import { type LogSearch, logQuerySchema } from "./log-query.schema.ts";
import { hasStatistics, logQueryFromFilters, periodOfSearch } from "./log-search.ts";
import { parseQueryText } from "./query-text/query-text.ts";
import { bucketMsFor } from "./request-log-stats.ts";

const database = openTestDatabase();

/** Percentiles come from histograms: within 6 %. */
function expectNear(ms: number | null, expected: number): void {
  expect(Math.abs((ms ?? 0) / expected - 1)).toBeLessThan(0.06);
}

describe("writing", () => {
  test("GW-7 columns that no row of a batch fills are null, in more combinations than are prepared, also in a replay", async () => {
    const projectId = randomUUID();
    const optional = ["refusal", "instanceId", "traceId", "session", "clientName"] as const;
    const batches = Array.from({ length: 2 ** optional.length }, (_, mask) => {
      const filled = optional.map((name, bit) => [name, mask & (1 << bit) ? `${name} ${mask}` : null]);
      const row = requestLogRow({ projectId, ...Object.fromEntries(filled) });
      // Beside one that fills none: a column with any value is sent for all rows.
      const bare = requestLogRow({ projectId, ...Object.fromEntries(optional.map((name) => [name, null])) });
      return [row, bare];
    });
    for (const batch of [...batches, ...batches]) await writeRequestLogs(database.pool, batch);
    const { rows } = await database.pool.query(
      `SELECT id, refusal, instance_id AS "instanceId", trace_id AS "traceId", session, client_name AS "clientName"
       FROM request_log WHERE project_id = $1 ORDER BY id`,
      [projectId],
    );
    const written = batches.flat().map((row) => ({
      id: row.id,
      ...Object.fromEntries(optional.map((name) => [name, row[name]])),
    }));
    expect(rows).toEqual(written.sort((a, b) => (a.id < b.id ? -1 : 1)));
  });

  test("GW-7 a row comes back as it was written, in the names that people read", async () => {
    const projectId = randomUUID();
    const row = requestLogRow({
      projectId,
      isError: true,
      errorCode: -32602,
      errorMessage: "bad",
      outcome: "rpc_error",
      responseBytes: 3_000_000_000,
      refusal: "server_busy",
      serverMs: 1.25,
      instanceId: "i1",
      startAttempt: { outcome: "started", placeMs: 1, startMs: 2.5, wakeMs: null, reason: null },
      requestTruncated: true,
      requestPayload: { a: [1, { b: null }] },
    });
    await writeRequestLogs(database.pool, [row]);
    const { data, hasMore } = await queryRequestLogs(database.pool, { projectId });
    expect(hasMore).toBe(false);
    expect(data).toEqual([
      expect.objectContaining({
        id: row.id,
        requestId: row.id,
        refusal: "server_busy",
        serverMs: 1.25,
        instanceId: "i1",
        startAttempt: row.startAttempt,
        time: new Date(row.time).toISOString(),
        method: "tools/call",
        tool: "echo",
        httpStatus: 200,
        isError: true,
        errorCode: -32602,
        durationMs: 1.5,
        responseBytes: 3_000_000_000,
        client: "client 1.0",
        protocolVersion: "2025-11-25",
        session: "abc",
        principal: "anonymous",
      }),
    ]);
    // Lists leave payloads out; a row of another project is no row.
    expect(data[0]).not.toHaveProperty("requestPayload");
    const key = { id: row.id, time: new Date(row.time) };
    expect(await readRequestLog(database.pool, { projectId, ...key })).toEqual({
      ...data[0],
      requestPayload: { a: [1, { b: null }] },
      responsePayload: null,
      requestTruncated: true,
      responseTruncated: false,
    });
    expect(await readRequestLog(database.pool, { projectId: randomUUID(), ...key })).toBeNull();
  });

  test("GW-10 writing the same rows again changes nothing", async () => {
    const projectId = randomUUID();
    const rows = [requestLogRow({ projectId }), requestLogRow({ projectId })];
    await writeRequestLogs(database.pool, rows);
    await writeRequestLogs(database.pool, [...rows, requestLogRow({ projectId })]);
    expect((await queryRequestLogs(database.pool, { projectId })).data).toHaveLength(3);
  });

  test("GW-7 texts that PostgreSQL cannot hold, or that are too long, do not lose the row", async () => {
    const projectId = randomUUID();
    const row = requestLogRow({
      projectId,
      target: `a\0b\ud800${"x".repeat(5000)}`,
      errorCode: 2 ** 40,
      requestPayload: { text: "nul \0, lone \udc00, pair 𝄞, escaped \\u0000" },
    });
    await writeRequestLogs(database.pool, [row]);
    const [entry] = (await queryRequestLogs(database.pool, { projectId })).data;
    expect(entry?.target).toHaveLength(1024);
    expect(entry?.target?.startsWith("a\ufffdb\ufffdxxx")).toBe(true);
    expect(entry?.errorCode).toBeNull();
    const detail = await readRequestLog(database.pool, { projectId, id: row.id, time: new Date(row.time) });
    expect(detail?.requestPayload).toEqual({ text: "nul \ufffd, lone \ufffd, pair 𝄞, escaped \\u0000" });
  });

  test("GW-7 any text is read as it was written, even if it is special to PostgreSQL", async () => {
    const projectId = randomUUID();
    const now = Date.now();
    const texts = [
      "NULL",
      "null",
      "",
      "{",
      "}",
      ",",
      '"',
      "\\",
      '\\"',
      '","x',
      "a'b",
      "{1,2}",
      " spaced ",
      "é𝄞",
      "$1",
      "\n\t",
    ];
    await writeRequestLogs(
      database.pool,
      texts.map((target, at) => requestLogRow({ projectId, target, errorMessage: target, time: now - at })),
    );
    const { data } = await queryRequestLogs(database.pool, { projectId });
    expect(data.map((entry) => entry.target)).toEqual(texts);
    expect(data.map((entry) => entry.errorMessage)).toEqual(texts);
  });

  test("GW-7 rows land in the partition of their day, and a day without one keeps them too", async () => {
    const projectId = randomUUID();
    const day = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
    const time = Date.parse(`${day}T23:59:59.999Z`);
    await writeRequestLogs(database.pool, [requestLogRow({ projectId, time })]);
    const { rows } = await database.pool.query(
      "SELECT tableoid::regclass::text AS t FROM request_log WHERE project_id = $1",
      [projectId],
    );
    expect(rows).toEqual([{ t: `request_log_${day.replaceAll("-", "")}` }]);
  });

  test("LOG-3 a clock that is years ahead neither makes partitions that stay for years nor hides its rows", async () => {
    const [projectId, deploymentId] = [randomUUID(), randomUUID()];
    const time = Date.UTC(2031, 4, 5);
    await writeRequestLogs(database.pool, [requestLogRow({ projectId, time })]);
    const line = {
      stream: "stdout",
      level: "info",
      line: "x",
      projectId,
      deploymentId,
      instanceId: null,
      requestId: null,
    } as const;
    await writeServerLogs(database.pool, [{ ...line, time: new Date(time) }]);
    const listed = (await queryRequestLogs(database.pool, { projectId })).data;
    const lines = await readServerLogs(database.pool, { deploymentId });
    for (const row of [...listed, ...lines])
      expect(Math.abs(Date.parse(row.time) - Date.now())).toBeLessThan(3_600_000);
    expect([listed.length, lines.length]).toEqual([1, 1]);
    const { rows } = await database.pool.query(
      `SELECT relname FROM pg_class WHERE relname LIKE '%\\_2031____'
       UNION ALL SELECT 'default' FROM request_log_default WHERE project_id = $1`,
      [projectId],
    );
    expect(rows).toEqual([]);
  });
});

describe("querying", () => {
  const projectId = randomUUID();
  const deploymentId = randomUUID();
  const minute = 60_000;
  beforeAll(async () => {
    const now = Date.now();
    await writeRequestLogs(database.pool, [
      requestLogRow({ projectId, time: now - 1 * minute, target: "echo", deploymentId, durationMs: 10 }),
      requestLogRow({
        projectId,
        time: now - 2 * minute,
        target: "add",
        isError: true,
        outcome: "tool_error",
        durationMs: 20,
      }),
      requestLogRow({ projectId, time: now - 30 * minute, method: "tools/list", target: null, durationMs: 30 }),
      requestLogRow({ projectId, time: now - 40 * minute, method: "resources/read", target: "a://100%_b" }),
      requestLogRow({
        projectId,
        time: now - 50 * minute,
        method: null,
        target: null,
        kind: "other",
        httpMethod: "GET",
      }),
      requestLogRow({ projectId, time: now - 3 * 24 * 60 * minute, method: "initialize", target: null }),
      requestLogRow({ projectId: randomUUID(), time: now, target: "echo" }),
    ]);
  });
  const methods = async (changes: Partial<LogSearch>) => {
    const search: LogSearch = { status: "all", methodType: "all", timeRange: "24h", protocol: true, ...changes };
    const query = { ...logQueryFromFilters(search, search.protocol ?? false), ...periodOfSearch(search), projectId };
    return (await queryRequestLogs(database.pool, query)).data.map(
      (entry) => entry.target ?? entry.method ?? entry.httpMethod,
    );
  };

  test("PRJ-5 newest first within the last 24 h of this project alone", async () => {
    expect(await methods({})).toEqual(["echo", "add", "tools/list", "a://100%_b", "GET"]);
  });

  test("PRJ-5 status, tool, prefix, exact method and time range", async () => {
    expect(await methods({ status: "error" })).toEqual(["add"]);
    expect(await methods({ methodType: "tool:echo" })).toEqual(["echo"]);
    expect(await methods({ methodType: "tools/*" })).toEqual(["echo", "add", "tools/list"]);
    expect(await methods({ methodType: "resources/read" })).toEqual(["a://100%_b"]);
    expect(await methods({ timeRange: "15m" })).toEqual(["echo", "add"]);
    expect(await methods({ timeRange: "7d" })).toHaveLength(6);
    expect(await methods({ status: "ok", methodType: "tools/call" })).toEqual(["echo"]);
    expect(await methods({ methodType: "resources/read", target: "a://100%_b" })).toEqual(["a://100%_b"]);
    const at = (minutes: number) => new Date(Date.now() - minutes * minute).toISOString();
    expect(await methods({ from: at(45), to: at(20) })).toEqual(["tools/list", "a://100%_b"]);
  });

  test("PRJ-5 messages of the protocol can be left out; failed ones and those that are asked for stay", async () => {
    const failed = randomUUID();
    await writeRequestLogs(
      database.pool,
      ["tools/list", "ping", "notifications/initialized", "tools/call", "tasks/get", "tasks/result"].map((method, at) =>
        requestLogRow({
          projectId: failed,
          method,
          target: null,
          isError: at < 2,
          outcome: at < 2 ? "rpc_error" : "ok",
        }),
      ),
    );
    const shown = async (query: object) =>
      (await queryRequestLogs(database.pool, { projectId: failed, ...query })).data
        .map(({ method }) => method)
        .toSorted();
    expect(await methods({ protocol: false })).toEqual(["echo", "add", "a://100%_b"]);
    expect(await methods({ protocol: false, methodType: "tools/list" })).toEqual(["tools/list"]);
    expect(await shown({ withoutProtocol: true })).toEqual(["ping", "tools/call", "tools/list"]);
    const stats = await requestLogStats(database.pool, { projectId, withoutProtocol: true });
    expect([stats.total, stats.errors]).toEqual([3, 1]);
    // The other choices are still offered.
    expect(stats.methods.map(({ method }) => method)).toContain("tools/list");
    const filters = { status: "all", methodType: "all" } as const;
    expect([hasStatistics(filters), hasStatistics({ ...filters, client: "x" })]).toEqual([true, false]);
  });

  test("VAL-5 limit, offset, deployment, HTTP method and search", async () => {
    const first = await queryRequestLogs(database.pool, { projectId, limit: 2 });
    expect([first.data.length, first.hasMore]).toEqual([2, true]);
    const last = await queryRequestLogs(database.pool, { projectId, limit: 2, offset: 4 });
    expect([last.data.length, last.hasMore]).toEqual([1, false]);
    const count = async (query: object) => (await queryRequestLogs(database.pool, { projectId, ...query })).data.length;
    expect(await count({ deploymentId })).toBe(1);
    expect(await count({ deploymentIds: [deploymentId, randomUUID()] })).toBe(1);
    expect(await count({ httpMethod: "get" })).toBe(1);
    expect(await count({ search: "100%_" })).toBe(1);
    expect(await count({ search: "100%x" })).toBe(0);
    expect(await count({ search: "'; DROP TABLE request_log; --" })).toBe(0);
    expect(
      await count({ startDate: new Date(Date.now() - 45 * minute), endDate: new Date(Date.now() - 20 * minute) }),
    ).toBe(2);
  });

  test("PRJ-5 by duration, and by the beginning of a client's name in any case", async () => {
    const timed = randomUUID();
    const row = (durationMs: number, clientName: string) => requestLogRow({ projectId: timed, durationMs, clientName });
    await writeRequestLogs(database.pool, [row(20, "Cursor-vscode"), row(500, "cursor"), row(1600, "Claude")]);
    const durations = async (text: string) => {
      const { filters, problems } = parseQueryText(text);
      expect(problems).toEqual([]);
      const query = { projectId: timed, ...logQueryFromFilters(filters, true) };
      return (await queryRequestLogs(database.pool, query)).data.map(({ durationMs }) => durationMs).toSorted();
    };
    for (const _ of ["fresh", "folded"]) {
      expect(await durations("duration:>500")).toEqual([1600]);
      expect(await durations("duration:<1.5s")).toEqual([20, 500]);
      expect(await durations("duration:<100ms client:CURS")).toEqual([20]);
      expect(await durations("client:cursor")).toEqual([20, 500]);
      expect(await durations("client:ursor")).toEqual([]);
      while ((await foldRequestLogs(database.pool)) > 0);
    }
  });

  test("VAL-5 limits of limit and offset", () => {
    expect(logQuerySchema.parse({ projectId })).toMatchObject({ limit: 100, offset: 0, timeRange: "24h" });
    for (const bad of [{ limit: 0 }, { limit: 1001 }, { offset: -1 }, { projectId: "x" }]) {
      expect(logQuerySchema.safeParse({ projectId, ...bad }).success).toBe(false);
    }
  });

  test("PRJ-5 stats count, measure, draw every bucket and offer the other choices", async () => {
    const stats = await requestLogStats(database.pool, { projectId, toolName: "echo", timeRange: "1h" });
    expect(stats).toMatchObject({ total: 1, errors: 0, refused: 0 });
    expectNear(stats.p50Ms, 10);
    expectNear(stats.p95Ms, 10);
    expect(stats.tools).toEqual([
      { tool: "add", total: 1, errors: 1 },
      { tool: "echo", total: 1, errors: 0 },
    ]);
    expect(stats.methods[0]).toEqual({ method: "tools/call", total: 2, errors: 1 });
    expect(stats.buckets.reduce((sum, bucket) => sum + bucket.total, 0)).toBe(1);
    expect(stats.buckets.length).toBeGreaterThanOrEqual(60);
    const all = await requestLogStats(database.pool, { projectId, timeRange: "1h" });
    expect(all).toMatchObject({ total: 5, errors: 1 });
    expectNear(all.p50Ms, 10);
    const none = await requestLogStats(database.pool, { projectId: randomUUID() });
    expect(none).toMatchObject({ total: 0, errors: 0, p50Ms: null, p95Ms: null, methods: [], tools: [] });
    expect(new Set(none.buckets.map((bucket) => bucket.total))).toEqual(new Set([0]));
  });

  test("PRJ-5 a chart has at most 61 bars over any range", () => {
    for (const range of [1, 15 * minute, 24 * 60 * minute, 30 * 24 * 60 * minute, 5 * 365 * 24 * 60 * minute]) {
      expect(range / bucketMsFor(range)).toBeLessThanOrEqual(60);
    }
  });
});

test("PRJ-5 a page is read from the index, however many rows the project has", async () => {
  const projectId = randomUUID();
  const asked: { text: string; values: unknown[] }[] = [];
  const recording = {
    query: (text: string, values: unknown[]) => {
      asked.push({ text, values });
      return database.pool.query(text, values);
    },
  };
  await queryRequestLogs(recording as never, { projectId });
  await readServerLogs(recording as never, { deploymentId: projectId });
  await readServerLogs(recording as never, { deploymentId: projectId, afterId: 7 });
  expect(asked).toHaveLength(3);
  const client = await database.pool.connect();
  try {
    await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
    for (const { text, values } of asked) {
      const { rows } = await client.query(`EXPLAIN ${text}`, values);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      // Only a page that was read from its end is turned around: that sort is the plan's first line.
      expect(plan.replace(/^Sort +\(cost/, "")).not.toMatch(/Sort +\(cost/);
      expect(plan).toMatch(/Index Scan/);
    }
  } finally {
    client.release(true);
  }
});
