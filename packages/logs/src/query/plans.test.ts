import { createHash } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import type { Pool } from "pg";
import { beforeAll, expect, test } from "vitest";
import { isThorough, rounds } from "../../../../tests/thorough.ts";
import {
  indexFinishedDays,
  itemUsage,
  listSessions,
  listUsers,
  queryRequestLogs,
  requestLogStats,
  sessionStats,
  sessionTimeseries,
  sessionUsage,
  userStats,
  userTimeseries,
} from "../index.ts";
import { deploymentId, fillProject, projectId } from "../testing/index.ts";
import type { LogQueryInput } from "./log-query.schema.ts";

// The queries of `tests/bench/logs.ts`, measured by the rows that PostgreSQL reads instead of times, and with fewer
// rows.
const rows = rounds(50_000, 100_000);
/** Far below what a scan of the project, or of an eighth of it, would read. */
const maxRead = rows * 0.12;

const database = openTestDatabase();
beforeAll(async () => {
  await fillProject(database.pool, rows, () => {});
  await database.pool.query("ANALYZE");
}, 300_000);

type Plan = {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Node Type": string;
  Plans?: Plan[];
};

/** Rows of the log itself (not of roll-ups) that `read` makes PostgreSQL look at. */
async function rowsRead(read: (pool: Pool) => Promise<unknown>): Promise<number> {
  let total = 0;
  const visit = (plan: Plan): void => {
    if (/^request_log_(\d|default)/.test(plan["Relation Name"] ?? ""))
      total += (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
    plan.Plans?.forEach(visit);
  };
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const { rows: explained } = await database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      visit(explained[0]["QUERY PLAN"][0].Plan);
      return database.pool.query(text, values);
    },
  };
  await read(explaining as never);
  return total;
}

/** Names as in `fillProject`. */
const sessionOf = (number: number) => createHash("md5").update(String(number)).digest("hex").slice(0, 22);

const month = { projectId, startDate: new Date(Date.now() - 30 * 86_400_000) };

test.each<[string, Partial<LogQueryInput>]>([
  ["the newest page", {}],
  ["errors", { isError: true }],
  ["a method", { jsonrpcMethod: "tools/list" }],
  ["a prefix", { methodPrefix: "resources/" }],
  ["a tool", { toolName: "tool_1" }],
  ["a rare tool", { toolName: "rare" }],
  ["a tool that nobody called", { toolName: "none" }],
  ["an HTTP method", { httpMethod: "GET" }],
  ["an old deployment", { deploymentId: deploymentId(0) }],
  ["half of the log down", { offset: rows / 2 }],
  ["half of a tool's calls down", { offset: rows / 100, toolName: "tool_1" }],
  ["without the protocol", { withoutProtocol: true }],
  ["a client", { clientName: "CURSOR" }],
  ["a client that nobody has", { clientName: "none" }],
  ["a session", { session: sessionOf(1) }],
  ["a user", { principals: ["user:7"], withoutProtocol: true }],
  ["two users, half of their calls down", { principals: ["user:7", "user:14"], offset: 50 }],
  ["a user's calls of a rare tool", { principals: ["user:7"], toolName: "rare" }],
  ["a client's calls of a rare tool", { clientName: "cursor", toolName: "rare" }],
  ["a client's errors", { clientName: "cursor", isError: true }],
  ["a user's calls with a text", { principals: ["user:7"], search: "tool_7" }],
  ["a search that finds nothing", { search: "no such text" }],
  ["a search for a tool", { search: "RARE" }],
  ["a search for an error", { search: "shard 17" }],
])("LOG-5 a page reads few rows of a large log: %s", async (_name, query) => {
  expect(await rowsRead((pool) => queryRequestLogs(pool, { ...month, ...query }))).toBeLessThan(maxRead);
});

test("LOG-5 the rows that a query reads are counted", async () => {
  expect(await rowsRead((pool) => queryRequestLogs(pool, month))).toBeGreaterThan(100);
});

test.each<[string, (pool: Pool) => Promise<unknown>]>([
  ["sessions", (pool) => listSessions(pool, { projectId, timeRange: "30d" })],
  ["users", (pool) => listUsers(pool, { projectId, timeRange: "30d" })],
  ["figures", (pool) => Promise.all([sessionStats(pool, { projectId }), userStats(pool, { projectId })])],
  ["charts", (pool) => Promise.all([sessionTimeseries(pool, { projectId }), userTimeseries(pool, { projectId })])],
  ["tools", (pool) => itemUsage(pool, { projectId, kind: "tool", timeRange: "30d" })],
  [
    "templates",
    (pool) => itemUsage(pool, { projectId, kind: "template", timeRange: "30d", templates: ["file:///notes/{id}"] }),
  ],
])("LOG-5 PRJ-6 PRJ-7 usage is read from sums only: %s", async (_name, read) => {
  expect(await rowsRead(read)).toBe(0);
});

test("LOG-5 a session's usage reads few rows of a large log", async () => {
  const { data } = await listSessions(database.pool, { projectId, timeRange: "30d" });
  const busiest = data.toSorted((a, b) => b.calls - a.calls)[0];
  if (!busiest) throw new Error("no sessions");
  const usage = (pool: Pool) => sessionUsage(pool, { projectId, sessionId: busiest.id });
  expect(await rowsRead(usage)).toBeGreaterThan(0);
  expect(await rowsRead(usage)).toBeLessThan(maxRead);
});

test.each([{}, { isError: true }, { toolName: "tool_1" }, { deploymentId: deploymentId(3) }])(
  "LOG-5 statistics read sums only: %j",
  async (query) => {
    expect(await rowsRead((pool) => requestLogStats(pool, { ...month, ...query }))).toBe(0);
    expect((await requestLogStats(database.pool, { ...month, ...query })).total).toBeGreaterThan(0);
  },
);

test.runIf(isThorough)(
  "LOG-5 users, and callers of rare tools, are found by an index of finished days, in the same pages as without",
  async () => {
    const few: Partial<LogQueryInput>[] = [
      { principals: ["user:7"], search: "tool_7" },
      { principals: ["user:7"], toolName: "rare" },
      { principals: ["user:7"], withoutProtocol: true },
      { toolName: "rare" },
      { principals: ["user:7", "user:14"], offset: 50 },
      { principals: ["user:7"], endDate: new Date(Date.now() - 5 * 86_400_000), limit: 20, offset: 5 },
      { clientName: "cursor", toolName: "rare" },
      { clientName: "cursor", toolName: "rare", principals: ["user:7", "anonymous"] },
    ];
    const read = (query: Partial<LogQueryInput>) => queryRequestLogs(database.pool, { ...month, ...query });
    const scanned = await Promise.all(few.map(read));
    // Two workers at once: one does it. What a killed one left is replaced.
    const yesterday = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
    await database.pool.query(`CREATE INDEX request_log_${yesterday}_target ON request_log_${yesterday} (id);
    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'request_log_${yesterday}_target'::regclass`);
    const indexed = await Promise.all([indexFinishedDays(database.pool), indexFinishedDays(database.pool)]);
    expect(Math.min(...indexed)).toBe(0);
    expect(Math.max(...indexed)).toBeGreaterThan(28);
    expect(await indexFinishedDays(database.pool)).toBe(0);
    for (const [at, query] of few.entries()) {
      expect(await read(query)).toEqual(scanned[at]);
      expect(await rowsRead((pool) => queryRequestLogs(pool, { ...month, ...query }))).toBeLessThan(1500);
    }
    // The day that is being written stays without: an index slows writes.
    const { rows: found } = await database.pool.query(
      "SELECT count(*)::int AS count FROM pg_indexes WHERE tablename = 'request_log_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AND indexdef LIKE '%hashtextextended(principal%'",
    );
    expect(found[0].count).toBe(0);
  },
  120_000,
);
