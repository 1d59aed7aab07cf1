// The request log at ten million rows of one project over 30 days: every query of a page, and the rate of the real
// writer with the roll-ups. `node tests/bench/logs.ts [rows] [data directory to keep]`; needs 6 GB of disk for ten
// million rows. A data directory filled by an earlier run is reused, so only the second run needs a quiet machine.
// Prints PASS or FAIL for each row.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateDatabase, openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import {
  foldRequestLogs,
  indexFinishedDays,
  itemUsage,
  latestCallers,
  listSessions,
  listUsers,
  queryRequestLogs,
  readRequestLog,
  requestLogBatches,
  requestLogStats,
  sessionStats,
  sessionTimeseries,
  sessionUsage,
  userStats,
  userTimeseries,
  userUsage,
  writeRequestLogs,
} from "@towpath/logs";
import { deploymentId, fillProject, projectId, requestLogRow } from "@towpath/logs/testing";
import { median, timed } from "./measure.ts";
import { overviewQueries } from "./overview-queries.ts";

const rows = Number(process.argv[2] ?? 10_000_000);
const kept = process.argv[3];
const runs = 20;
const targetMs = 50;
const targetRate = 100_000;
const writtenProject = randomUUID();
let written = 0;

const directory = kept ?? (await mkdtemp(join(tmpdir(), "tp-logs-")));
// Written once the table is full: a directory without it is from an interrupted run and useless.
const filledFile = join(directory, `filled-${rows}`);
const isFilled = existsSync(filledFile);
if (!isFilled && existsSync(join(directory, "data")))
  throw new Error(`${directory} does not hold ${rows} rows. Name another directory, or remove it.`);
const postgres = await startEmbeddedPostgres({
  dataDirectory: join(directory, "data"),
  socketDirectory: join(directory, "s"),
  durable: true,
});
const { pool, close } = openDatabase(postgres.url);
try {
  await migrateDatabase(postgres.url);
  if (!isFilled) {
    await fillProject(pool, rows, (text) => console.log(text));
    await pool.query("VACUUM ANALYZE");
    await pool.query("CHECKPOINT");
    await writeFile(filledFile, "");
  }
  // As the worker does when a day has ended.
  await indexFinishedDays(pool);
  await measureQueries();
  await measureWrites();
} finally {
  await close();
  await postgres.stop();
  if (!kept) await rm(directory, { recursive: true, force: true });
}

async function measureQueries(): Promise<void> {
  const { rows: newest } = await pool.query("SELECT max(time) AS at FROM request_log WHERE project_id = $1", [
    projectId,
  ]);
  // The data's own now: a kept directory may be of yesterday.
  const now: Date = newest[0].at;
  const back = (hours: number) => new Date(now.getTime() - hours * 3_600_000);
  const month = { projectId, startDate: back(720) };
  const lastDay = { projectId, startDate: back(24) };
  const list = (query: object) => queryRequestLogs(pool, { ...month, ...query });
  const stats = (hours: number, query: object = {}) =>
    requestLogStats(pool, { projectId, startDate: back(hours), ...query });
  const { data } = await list({ limit: 1 });
  const first = data[0];
  if (!first) throw new Error("no rows");
  const some = (await list({ limit: 1, offset: Math.floor(rows / 3) })).data[0];
  const queries: Record<string, () => Promise<unknown>> = {
    "list: newest page": () => list({}),
    "list: last 24 h": () => list(lastDay),
    "list: status = error": () => list({ isError: true }),
    "list: method": () => list({ jsonrpcMethod: "tools/list" }),
    "list: rare method": () => list({ jsonrpcMethod: "prompts/get" }),
    "list: method prefix": () => list({ methodPrefix: "resources/" }),
    "list: frequent tool": () => list({ toolName: "tool_1" }),
    "list: rare tool": () => list({ toolName: "rare" }),
    "list: rare tool, errors": () => list({ toolName: "rare", isError: true }),
    "list: tool nobody called": () => list({ toolName: "none" }),
    "list: without the protocol": () => list({ withoutProtocol: true }),
    "list: without the protocol, offset 50,000": () => list({ withoutProtocol: true, offset: rows / 200 }),
    "list: client": () => list({ clientName: "cursor", withoutProtocol: true }),
    "list: client, rare tool": () => list({ clientName: "cursor", toolName: "rare" }),
    "list: client, errors": () => list({ clientName: "cursor", isError: true }),
    "list: session": () => list({ session: some?.session ?? "" }),
    "list: user": () => list({ principals: [first.principal], withoutProtocol: true }),
    "list: user, rare tool": () => list({ principals: [first.principal], toolName: "rare" }),
    "list: user, search": () => list({ principals: [first.principal], search: "tool_7" }),
    "list: user, a day two weeks ago": () =>
      list({ startDate: back(360), endDate: back(336), principals: [first.principal] }),
    "list: long": () => list({ longerThanMs: 300 }),
    "list: long, tool": () => list({ longerThanMs: 300, toolName: "tool_1" }),
    "list: long, rare": () => list({ longerThanMs: 60_000 }),
    "list: short, offset 5,000": () => list({ shorterThanMs: 2, offset: 5000 }),
    "list: HTTP method": () => list({ httpMethod: "GET" }),
    "list: deployment": () => list({ deploymentId: deploymentId(3) }),
    "list: a day two weeks ago": () => list({ startDate: back(360), endDate: back(336) }),
    "list: that day, tool, offset 5,000": () =>
      list({ startDate: back(360), endDate: back(336), toolName: "tool_1", offset: 5000 }),
    "search that day: nothing": () => list({ startDate: back(360), endDate: back(336), search: "no such text" }),
    "list: offset 50,000": () => list({ offset: 50_000 }),
    "list: offset 5,000,000": () => list({ offset: rows / 2 }),
    "list: error, offset 50,000": () => list({ isError: true, offset: rows / 200 }),
    "list: tool, offset 100,000": () => list({ toolName: "tool_1", offset: rows / 100 }),
    "detail: a row": () => readRequestLog(pool, { projectId, id: first.id, time: new Date(first.time) }),
    "search 24 h: tool": () => list({ ...lastDay, search: "TOOL_7" }),
    "search 24 h: session": () => list({ ...lastDay, search: first.session?.slice(2, 20) ?? "" }),
    "search 24 h: principal": () => list({ ...lastDay, search: first.principal }),
    "search 24 h: client": () => list({ ...lastDay, search: "cursor" }),
    "search 24 h: error message": () => list({ ...lastDay, search: "shard 17" }),
    "search 24 h: nothing": () => list({ ...lastDay, search: "no such text" }),
    "search 30 d: tool": () => list({ search: "rare" }),
    "search 30 d: session": () => list({ search: some?.session ?? "" }),
    "search 30 d: principal": () => list({ search: first.principal }),
    "search 30 d: error message": () => list({ search: "shard 17" }),
    "search 30 d: nothing": () => list({ search: "no such text" }),
  };
  for (const [name, hours] of [
    ["1 h", 1],
    ["24 h", 24],
    ["7 d", 168],
    ["30 d", 720],
  ] as const) {
    queries[`statistics ${name}`] = () => stats(hours);
    queries[`statistics ${name}: error`] = () => stats(hours, { isError: true });
    queries[`statistics ${name}: without the protocol`] = () => stats(hours, { withoutProtocol: true });
    queries[`statistics ${name}: tool`] = () => stats(hours, { toolName: "tool_1" });
    queries[`statistics ${name}: prefix`] = () => stats(hours, { methodPrefix: "tools/" });
    queries[`statistics ${name}: deployment`] = () => stats(hours, { deploymentId: deploymentId(3) });
  }
  Object.assign(queries, await usageQueries(now), await overviewQueries(pool, now));
  const column = `p95 ≤ ${targetMs} ms`;
  const table: Record<string, string>[] = [];
  for (const [query, run] of Object.entries(queries)) {
    await run();
    const times: number[] = [];
    for (let at = 0; at < runs; at++) times.push(await timed(run));
    times.sort((a, b) => a - b);
    const p95 = times[Math.ceil(runs * 0.95) - 1] ?? Number.NaN;
    table.push({
      query,
      "p50 ms": (times[runs / 2] ?? Number.NaN).toFixed(1),
      "p95 ms": p95.toFixed(1),
      [column]: p95 <= targetMs ? "PASS" : "FAIL",
    });
  }
  console.table(table);
  const failed = table.filter((row) => row[column] === "FAIL").map(({ query }) => query);
  console.log(`${table.length - failed.length} of ${table.length} within ${targetMs} ms at p95, ${rows} rows`);
  if (failed.length > 0) console.log(`FAIL: ${failed.join("; ")}`);
}

/** Queries of the pages of sessions, users and items. Their ranges end now: reuse a directory only within hours. */
async function usageQueries(newest: Date): Promise<Record<string, () => Promise<unknown>>> {
  const ranges = ["24h", "7d", "30d"] as const;
  const { data: sessions, nextCursor } = await listSessions(pool, { projectId, timeRange: "30d" });
  const session = sessions[0];
  if (!session || !nextCursor) throw new Error(`no sessions in the 30 days before now; the newest row is of ${newest}`);
  const { principal } = session;
  const queries: Record<string, () => Promise<unknown>> = {
    "sessions: second page": () => listSessions(pool, { projectId, timeRange: "30d", cursor: nextCursor }),
    "sessions of a user": () => listSessions(pool, { projectId, timeRange: "30d", principal }),
    "session: usage": () => sessionUsage(pool, { projectId, sessionId: session.id }),
    "tool: latest callers": () => latestCallers(pool, { projectId, timeRange: "30d", toolName: "tool_1" }),
    "rare tool: latest callers": () => latestCallers(pool, { projectId, timeRange: "30d", toolName: "rare" }),
  };
  for (const timeRange of ranges) {
    const query = { projectId, timeRange };
    Object.assign(queries, {
      [`sessions ${timeRange}: list`]: () => listSessions(pool, query),
      [`sessions ${timeRange}: timeseries`]: () => sessionTimeseries(pool, query),
      [`sessions ${timeRange}: stats`]: () => sessionStats(pool, query),
      [`users ${timeRange}: list`]: () => listUsers(pool, query),
      [`users ${timeRange}: timeseries`]: () => userTimeseries(pool, query),
      [`users ${timeRange}: stats`]: () => userStats(pool, query),
      [`user ${timeRange}: usage`]: () => userUsage(pool, { ...query, principal }),
      [`tools ${timeRange}`]: () => itemUsage(pool, { ...query, kind: "tool" }),
      [`resources ${timeRange}`]: () => itemUsage(pool, { ...query, kind: "resource" }),
      [`templates ${timeRange}`]: () =>
        itemUsage(pool, { ...query, kind: "template", templates: ["file:///notes/{id}", "file:///{path*}"] }),
      [`template ${timeRange}: statistics`]: () =>
        requestLogStats(pool, { ...query, uriTemplate: "file:///notes/{id}" }),
    });
  }
  queries["users 6h: timeseries"] = () => userTimeseries(pool, { projectId, timeRange: "6h" });
  return queries;
}

/**
 * Two writers at a time, like two gateway processes, and a worker that folds meanwhile. Each round has a second side
 * without triggers, to show the cost of the sums: compare the sides, because the rates depend on the machine's load.
 */
async function measureWrites(): Promise<void> {
  const unsummed = openDatabase(`${postgres.url}&options=-csession_replication_role%3Dreplica`);
  const table = [];
  try {
    for (const [use, batchRows] of [
      ["usual", requestLogBatches.batchRows],
      ["backlog", requestLogBatches.maxBatchRows],
    ] as const) {
      // A warm-up of both sides makes partitions, connections and prepared statements.
      for (const side of [pool, unsummed.pool]) await writeWithTwo(side, batchRows, 20_000);
      const rates: { summed: number[]; plain: number[] } = { summed: [], plain: [] };
      let foldMs = 0;
      for (let round = 0; round < 3; round++) {
        rates.plain.push(await writeWithTwo(unsummed.pool, batchRows, 200_000));
        rates.summed.push(await whileFolding(() => writeWithTwo(pool, batchRows, 200_000)));
        foldMs = await timed(async () => {
          while ((await foldRequestLogs(pool)) > 0);
        });
      }
      const [rate, plainRate] = [median(rates.summed), median(rates.plain)];
      table.push({
        "rows a batch": batchRows,
        "rows/s": Math.round(rate),
        "rows/s without sums": Math.round(plainRate),
        ratio: (rate / plainRate).toFixed(2),
        // Writers with more rows than they can write make larger batches, so these are maximum rates.
        [`≥ ${targetRate}`]: use === "usual" ? "" : rate >= targetRate ? "PASS" : "FAIL",
        "ms until all was folded": Math.round(foldMs),
      });
    }
  } finally {
    await unsummed.close();
  }
  console.table(table);
}

async function whileFolding(write: () => Promise<number>): Promise<number> {
  let isWriting = true;
  const folding = (async () => {
    while (isWriting) {
      await foldRequestLogs(pool);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  })();
  try {
    return await write();
  } finally {
    isWriting = false;
    await folding;
  }
}

/** Rows per second. */
async function writeWithTwo(to: typeof pool, batchRows: number, total: number): Promise<number> {
  const batches = Array.from({ length: total / batchRows }, () => newBatch(batchRows));
  const ms = await timed(() =>
    Promise.all(
      [1, 2].map(async () => {
        for (let batch = batches.pop(); batch; batch = batches.pop()) await writeRequestLogs(to, batch);
      }),
    ),
  );
  return total / (ms / 1000);
}

function newBatch(count: number) {
  const organizationId = randomUUID();
  const now = Date.now();
  return Array.from({ length: count }, () => {
    written++;
    const isError = written % 33 === 0;
    const session = written % 1000;
    return requestLogRow({
      // Not the project that is measured: a kept directory stays as it was filled.
      projectId: writtenProject,
      organizationId,
      deploymentId: deploymentId(5),
      time: now + (written % 250),
      target: `tool_${written % 30}`,
      isError,
      outcome: isError ? "tool_error" : "ok",
      errorMessage: isError ? `the upstream failed on shard ${written % 40}` : null,
      durationMs: Math.exp(Math.random() * 6),
      session: `session-${session}`,
      principal: `user:${session % 211}`,
      clientName: `client ${session % 5}`,
    });
  });
}
