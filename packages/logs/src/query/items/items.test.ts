import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, expect, test } from "vitest";
import {
  argumentErrors,
  foldRequestLogs,
  itemUsage,
  latestCallers,
  requestLogStats,
  writeRequestLogs,
} from "../../index.ts";
import { requestLogRow } from "../../testing/rows.ts";
import { uriTemplatePattern } from "./uri-template-pattern.ts";

const projectId = randomUUID();
const database = openTestDatabase();

beforeAll(async () => {
  const read = (target: string, change = {}) =>
    requestLogRow({ projectId, method: "resources/read", target, ...change });
  await writeRequestLogs(database.pool, [
    ...[10, 10, 10, 400].map((durationMs) =>
      requestLogRow({ projectId, target: "echo", durationMs, principal: "user:1" }),
    ),
    requestLogRow({ projectId, target: "echo", isError: true, outcome: "tool_error", principal: "key:1" }),
    requestLogRow({ projectId, target: "echo", isError: true, outcome: "gateway_error", httpStatus: 429 }),
    requestLogRow({ projectId, target: "echo", time: Date.now() - 30 * 3_600_000 }),
    requestLogRow({ projectId, method: "prompts/get", target: "echo", principal: "user:1" }),
    read("notes://all"),
    read("notes://1"),
    read("notes://2", { isError: true, outcome: "rpc_error" }),
    read("notes://1/pages/2"),
  ]);
});

test.each(["fresh", "folded"])("LOG-1 usage by tool, resource, template and prompt: %s", async (state) => {
  if (state === "folded") while ((await foldRequestLogs(database.pool)) > 0);
  const usage = (kind: "tool" | "resource" | "prompt", timeRange: "24h" | "7d" = "24h") =>
    itemUsage(database.pool, { projectId, kind, timeRange });
  const tools = await usage("tool");
  expect([...tools.keys()]).toEqual(["echo"]);
  expect(tools.get("echo")).toMatchObject({ calls: 5, errors: 1 });
  const course = tools.get("echo")?.course ?? [];
  expect([course.length, course.reduce((sum, calls) => sum + calls, 0)]).toEqual([25, 5]);
  expect((course.at(-1) ?? 0) + (course.at(-2) ?? 0)).toBe(5);
  expect(Math.abs((tools.get("echo")?.p95Ms ?? 0) / 400 - 1)).toBeLessThan(0.06);
  expect((await usage("tool", "7d")).get("echo")?.calls).toBe(6);
  expect((await usage("prompt")).get("echo")).toMatchObject({ calls: 1, errors: 0 });
  expect((await usage("resource")).size).toBe(4);
  const templates = await itemUsage(database.pool, {
    projectId,
    kind: "template",
    timeRange: "24h",
    templates: ["notes://{id}", "notes://{id}/pages/{page}", "other://{x}"],
    exceptTargets: ["notes://all"],
  });
  expect([...templates].map(([name, { calls, errors }]) => [name, calls, errors])).toEqual([
    ["notes://{id}", 2, 1],
    ["notes://{id}/pages/{page}", 1, 0],
  ]);
  const detail = await requestLogStats(database.pool, {
    projectId,
    uriTemplate: "notes://{id}",
    exceptTargets: ["notes://all"],
  });
  expect(detail).toMatchObject({ total: 2, errors: 1 });
  const prompt = { projectId, jsonrpcMethod: "prompts/get", target: "echo" };
  expect(await requestLogStats(database.pool, prompt)).toMatchObject({ total: 1, errors: 0 });
  expect((await requestLogStats(database.pool, { projectId, toolName: "echo" })).p99Ms).toBeGreaterThan(370);
});

test("LOG-1 the users of an item, from the latest calls", async () => {
  const { looked, data } = await latestCallers(database.pool, { projectId, toolName: "echo" });
  expect(looked).toBe(6);
  const shares = data.map(({ principal, calls, errors }) => [principal, calls, errors]);
  expect(shares[0]).toEqual(["user:1", 4, 0]);
  expect(shares.slice(1).toSorted()).toEqual([
    // Refused, which is no error.
    ["anonymous", 1, 0],
    ["key:1", 1, 1],
  ]);
});

test("LOG-5 statistics refuse a search instead of reading rows", async () => {
  const query = { projectId, search: "echo" } as never;
  await expect(requestLogStats(database.pool, query)).rejects.toThrow("Statistics can't be limited to a search");
});

test.each<[template: string, matching: string[], other: string[]]>([
  ["notes://{id}", ["notes://1", "notes://a%20b"], ["notes://", "notes://1/2", "notes://1?q=2", "xnotes://1"]],
  ["file:///{path*}", ["file:///a", "file:///a/b.txt"], ["file://a", "file:///"]],
  ["repo://x{/rest*}", ["repo://x/a/b"], ["repo://x"]],
  ["repo://{+any}", ["repo://a/b?c"], ["repo://"]],
  ["q://find{?text,page}", ["q://find", "q://find?text=1&page=2"], ["q://find/x", "q://findx"]],
  ["a://b.c+(d)[e]^$|\\*/{x}", ["a://b.c+(d)[e]^$|\\*/1"], ["a://bxc+(d)[e]^$|\\*/1"]],
  ["ünïcode://{x}", ["ünïcode://1"], ["unicode://1"]],
])("PRJ-7 reads are matched to the template %s", async (template, matching, other) => {
  const { rows } = await database.pool.query("SELECT uri, uri ~ $1 AS matches FROM unnest($2::text[]) AS uri", [
    uriTemplatePattern(template),
    [...matching, ...other],
  ]);
  expect(rows.filter(({ matches }) => matches).map(({ uri }) => uri)).toEqual(matching);
});

test("PRJ-7 a template that was made to be slow costs little", async () => {
  const template = `x://${"{a*}{b*}".repeat(60)}!`;
  const query = { projectId, uriTemplate: template };
  await writeRequestLogs(database.pool, [
    requestLogRow({ projectId, method: "resources/read", target: `x://${"a".repeat(1000)}` }),
  ]);
  const client = await database.pool.connect();
  try {
    // The limit of web's own pool.
    await client.query("SET statement_timeout = 5000");
    expect((await requestLogStats(client as never, query)).total).toBe(0);
  } finally {
    client.release(true);
  }
});

test("CAP-7 calls whose arguments the server refused are counted by tool and prompt, in the range and by what it says", async () => {
  const own = randomUUID();
  const failed = (errorMessage: string, change = {}) =>
    requestLogRow({ projectId: own, target: "total", isError: true, outcome: "tool_error", errorMessage, ...change });
  await writeRequestLogs(database.pool, [
    failed("1 validation error for call[total]\nprice\n  Field required"),
    failed("1 validation error for call[total]\nprice\n  Field required"),
    failed("Error executing tool total: 2 validation errors for totalArguments"),
    failed("Input validation error: 'four' is not of type 'number'", { target: "other" }),
    failed("Missing required arguments: {'name'}", { method: "prompts/get", target: "ask" }),
    failed("Invalid params", { outcome: "rpc_error", errorCode: -32602, time: Date.now() - 30 * 3_600_000 }),
    // The server's own failures, in words that are close.
    failed("1 validation error for Price\namount"),
    failed("No such city: validation error"),
    requestLogRow({ projectId: randomUUID(), target: "total", isError: true, errorMessage: "Invalid params" }),
  ]);
  while ((await foldRequestLogs(database.pool)) > 0);
  const counted = await argumentErrors(database.pool, { projectId: own, timeRange: "24h" });
  expect(counted.tool).toEqual(
    new Map([
      ["total", 3],
      ["other", 1],
    ]),
  );
  expect(counted.prompt).toEqual(new Map([["ask", 1]]));
  expect((await argumentErrors(database.pool, { projectId: own, timeRange: "7d" })).tool.get("total")).toBe(4);
});
