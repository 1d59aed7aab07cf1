import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import {
  foldRequestLogs,
  indexFinishedDays,
  queryRequestLogs,
  type RequestLogRow,
  writeRequestLogs,
} from "../index.ts";
import { requestLogRow } from "../testing/rows.ts";
import type { LogQueryInput } from "./log-query.schema.ts";

const database = openTestDatabase();

const minute = 60_000;
const hour = 60 * minute;
const write = (rows: RequestLogRow[]) => writeRequestLogs(database.pool, rows);
const foldAll = async () => {
  while ((await foldRequestLogs(database.pool)) > 0);
};

describe("finding", () => {
  const projectId = randomUUID();
  const deployments = [randomUUID(), randomUUID()];
  const end = Date.now();
  let rows: RequestLogRow[];

  beforeAll(async () => {
    rows = Array.from({ length: 6000 }, (_, at) => {
      // Dense for a while, then rows that are far apart.
      const time = at < 3000 ? end - at * 7000 : end - 3000 * 7000 - (at - 3000) * 11 * minute;
      const isError = at % 41 === 0;
      return requestLogRow({
        projectId,
        time,
        deploymentId: deployments[at % 7 === 0 ? 1 : 0] as string,
        method: at % 9 === 0 ? "tools/list" : at % 25 === 0 ? "resources/read" : "tools/call",
        target: at % 9 === 0 ? null : at % 500 === 1 ? "Rare_100%" : `tool ${at % 4}`,
        httpMethod: at % 90 === 0 ? "GET" : "POST",
        isError,
        durationMs: at % 97 === 0 ? 400 : 1 + (at % 50) / 10,
        errorMessage: isError ? `shard ${at % 5} Failed` : null,
        session: `s${Math.floor(at / 30)}`,
        principal: `user:${Math.floor(at / 30) % 17}`,
        clientName: at % 2000 < 30 ? "Odd Client" : "client",
      });
    });
    await write(rows.slice(0, 2500));
    await foldAll();
    await write(rows.slice(5000));
    // These are not folded: what is read has both kinds.
    await write(rows.slice(2500, 5000));
  }, 120_000);

  const searched = (row: RequestLogRow) =>
    [row.method, row.target, row.errorMessage, row.clientName, row.session, row.principal].join("\n").toLowerCase();
  const isTool = (name: string) => (row: RequestLogRow) => row.method === "tools/call" && row.target === name;
  const filters: Record<string, [LogQueryInput, (row: RequestLogRow) => boolean]> = {
    all: [{ projectId }, () => true],
    errors: [{ projectId, isError: true }, (row) => row.isError],
    "no errors": [{ projectId, isError: false }, (row) => !row.isError],
    method: [{ projectId, jsonrpcMethod: "tools/list" }, (row) => row.method === "tools/list"],
    prefix: [{ projectId, methodPrefix: "resources/" }, (row) => row.method === "resources/read"],
    tool: [{ projectId, toolName: "tool 1" }, isTool("tool 1")],
    "rare tool": [{ projectId, toolName: "Rare_100%" }, isTool("Rare_100%")],
    "no tool": [{ projectId, toolName: "none" }, () => false],
    "HTTP method": [{ projectId, httpMethod: "get" }, (row) => row.httpMethod === "GET"],
    deployment: [{ projectId, deploymentId: deployments[1] as string }, (row) => row.deploymentId === deployments[1]],
    "tool and error": [{ projectId, toolName: "tool 1", isError: true }, (row) => isTool("tool 1")(row) && row.isError],
    "search by tool": [{ projectId, search: "rare_100%" }, (row) => searched(row).includes("rare_100%")],
    "search by method": [{ projectId, search: "S/LIST" }, (row) => searched(row).includes("s/list")],
    "search by message": [{ projectId, search: "shard 3 failed" }, (row) => searched(row).includes("shard 3 failed")],
    "search by session": [{ projectId, search: "s19" }, (row) => searched(row).includes("s19")],
    "search by principal": [{ projectId, search: "user:16" }, (row) => searched(row).includes("user:16")],
    "search by client": [{ projectId, search: "odd cli" }, (row) => searched(row).includes("odd cli")],
    "search for nothing": [{ projectId, search: "no_such%" }, () => false],
    "longer durations": [{ projectId, longerThanMs: 300 }, (row) => row.durationMs > 300],
    "short durations": [{ projectId, shorterThanMs: 2, isError: true }, (row) => row.durationMs < 2 && row.isError],
    client: [{ projectId, clientName: "ODD" }, (row) => row.clientName === "Odd Client"],
    session: [{ projectId, session: "s19" }, (row) => row.session === "s19"],
    users: [
      { projectId, principals: ["user:3", "user:4"] },
      ({ principal }) => principal === "user:3" || principal === "user:4",
    ],
    "no users": [{ projectId, principals: [] }, () => false],
    "user and rare tool": [
      { projectId, principals: ["user:3"], toolName: "Rare_100%" },
      (row) => row.principal === "user:3" && isTool("Rare_100%")(row),
    ],
    "client and tool": [
      { projectId, clientName: "client", toolName: "tool 2" },
      (row) => row.clientName === "client" && isTool("tool 2")(row),
    ],
    "user, search and error": [
      { projectId, principals: ["user:5"], search: "shard 3", isError: true },
      (row) => row.principal === "user:5" && searched(row).includes("shard 3"),
    ],
    "search and filters": [
      { projectId, search: "user:1", isError: true, toolName: "tool 2" },
      (row) => searched(row).includes("user:1") && row.isError && isTool("tool 2")(row),
    ],
  };
  const before = (ms: number) => new Date(end - ms);
  const periods: [string, LogQueryInput["startDate"], LogQueryInput["endDate"]][] = [
    ["30 d", before(30 * 24 * hour), undefined],
    ["parts of minutes", before(17 * 24 * hour + 12_345), before(3 * hour + 23_456)],
    ["a few minutes", before(200_000), before(100_000)],
  ];

  for (const state of ["with sums that are not folded yet", "folded", "with finished days indexed"]) {
    describe(state, () => {
      beforeAll(async () => {
        if (state !== "with sums that are not folded yet") await foldAll();
        if (state === "with finished days indexed") await indexFinishedDays(database.pool);
      }, 120_000);
      // Before, folded and waiting sums are read together: one filter of each kind, and of those that are combined. Afterwards
      // a few show that the waiting ones moved.
      const some: Record<string, readonly string[]> = {
        "with sums that are not folded yet": [
          "all",
          "no errors",
          "prefix",
          "tool",
          "deployment",
          "search by client",
          "short durations",
          "client",
          "session",
          "no users",
          "user, search and error",
        ],
        folded: ["errors", "longer durations", "search and filters", "users"],
        "with finished days indexed": ["users", "rare tool", "user and rare tool", "client and tool"],
      };
      test.each(isThorough ? Object.keys(filters) : (some[state] ?? []))(
        "LOG-5 VAL-5 pages are those of reading every row: %s",
        async (name) => {
          const [query, matches] = filters[name] as [LogQueryInput, (row: RequestLogRow) => boolean];
          for (const [period, startDate, endDate] of periods) {
            const [from, to] = [(startDate as Date).getTime(), (endDate as Date | undefined)?.getTime() ?? end];
            const expected = rows
              .filter((row) => matches(row) && row.time >= from && row.time <= to)
              .sort((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1));
            for (const [offset, limit] of [
              [0, 100],
              [3, 5],
              [Math.floor(expected.length / 2), 20],
              [Math.max(0, expected.length - 5), 5],
              [expected.length, 10],
              [1500, 30],
            ] as const) {
              const page = await queryRequestLogs(database.pool, { ...query, startDate, endDate, offset, limit });
              const ids = expected.slice(offset, offset + limit).map((row) => row.id);
              expect([period, offset, page.data.map((row) => row.id)]).toEqual([period, offset, ids]);
              expect(page.hasMore).toBe(expected.length > offset + limit);
            }
            const limit = Math.max(1, Math.ceil(expected.length / 3));
            const walked: string[] = [];
            for (let cursor: string | null | undefined; cursor !== null; ) {
              const page = { ...query, startDate, endDate, limit: Math.min(limit, 1000), cursor };
              const { data, nextCursor } = await queryRequestLogs(database.pool, page);
              walked.push(...data.map((row) => row.id));
              cursor = nextCursor;
            }
            expect([period, walked]).toEqual([period, expected.map((row) => row.id)]);
          }
        },
      );
    });
  }

  test("VAL-5 pages by cursor neither skip nor repeat rows of the same millisecond, nor shift as rows come", async () => {
    const crowded = randomUUID();
    const at = end - 1000;
    await write(Array.from({ length: 25 }, () => requestLogRow({ projectId: crowded, time: at })));
    const seen = new Set<string>();
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { data, nextCursor } = await queryRequestLogs(database.pool, { projectId: crowded, limit: 7, cursor });
      for (const { id } of data) seen.add(id);
      cursor = nextCursor;
      await write([requestLogRow({ projectId: crowded, time: end })]);
    }
    expect([...seen].length).toBe(25);
    const { nextCursor } = await queryRequestLogs(database.pool, { projectId: crowded, limit: 10 });
    const offset = await queryRequestLogs(database.pool, {
      projectId: crowded,
      limit: 5,
      offset: 10,
      cursor: nextCursor ?? "",
    });
    const whole = await queryRequestLogs(database.pool, { projectId: crowded });
    expect(offset.data).toEqual(whole.data.slice(20, 25));
    for (const bad of ["x", "1", `${at}.1`, `${at}.${randomUUID()}' OR true`])
      await expect(queryRequestLogs(database.pool, { projectId: crowded, cursor: bad })).rejects.toThrow("cursor");
  });
});
