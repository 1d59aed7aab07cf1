import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { queryRequestLogs, requestLogStats } from "./index.ts";
import type { LogQueryInput } from "./log-query.schema.ts";
import { deploymentId, fillProject, projectId } from "./testing/index.ts";

// What `tests/bench/logs.ts` measures at ten million rows, by the rows that PostgreSQL reads at a few: no times.
const rows = 100_000;
/** Far below what a scan of the project, or of an eighth of it, would read. */
const maxRead = 12_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await fillProject(database.pool, rows, () => {});
  await database.pool.query("ANALYZE");
}, 300_000);
afterAll(() => database.close());

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
  ["a search that finds nothing", { search: "no such text" }],
  ["a search for a tool", { search: "RARE" }],
  ["a search for an error", { search: "shard 17" }],
])("LOG-5 a page reads few rows of a large log: %s", async (_name, query) => {
  expect(await rowsRead((pool) => queryRequestLogs(pool, { ...month, ...query }))).toBeLessThan(maxRead);
});

test("LOG-5 the rows that a query reads are counted: those of a page, and all that a search's statistics look at", async () => {
  expect(await rowsRead((pool) => queryRequestLogs(pool, month))).toBeGreaterThan(100);
  const lastDay = { projectId, startDate: new Date(Date.now() - 86_400_000), search: "tool_1" };
  expect(await rowsRead((pool) => requestLogStats(pool, lastDay))).toBeGreaterThan(3000);
});

test.each([{}, { isError: true }, { toolName: "tool_1" }, { deploymentId: deploymentId(3) }])(
  "LOG-5 statistics read sums only: %j",
  async (query) => {
    expect(await rowsRead((pool) => requestLogStats(pool, { ...month, ...query }))).toBe(0);
    expect((await requestLogStats(database.pool, { ...month, ...query })).total).toBeGreaterThan(0);
  },
);
