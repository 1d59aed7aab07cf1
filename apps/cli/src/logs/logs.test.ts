import type { RequestListener } from "node:http";
import type { RequestLogEntry } from "@towpath/logs";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { printVerbosely } from "../terminal/terminal.ts";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { startStandIn } from "../testing/stand-in.ts";
import { logs } from "./logs.ts";

const row: RequestLogEntry = {
  id: "0199a000-0000-7000-8000-000000000001",
  requestId: "0199a000-0000-7000-8000-000000000001",
  time: "2026-11-21T10:00:00.000Z",
  deploymentId: "0199a000-0000-7000-8000-000000000002",
  instanceId: null,
  kind: "request",
  httpMethod: "POST",
  method: "prompts/get",
  tool: null,
  target: "greet\u001b[2J",
  httpStatus: 200,
  isError: true,
  isRefused: false,
  errorCode: -32602,
  errorMessage: "no such\nprompt",
  refusal: null,
  outcome: "rpc_error",
  durationMs: 12.5,
  heldMs: 0,
  serverMs: 12,
  startAttempt: null,
  requestBytes: 10,
  responseBytes: 20,
  protocolVersion: "2025-11-25",
  client: "test 1",
  clientName: "test",
  clientVersion: "1",
  session: null,
  principal: "anonymous",
  traceId: null,
  kept: null,
};

let directory = "";
let close = async () => {};
let printed: Printed;
let asked = "";
let answer: RequestListener;
beforeEach(async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: [row], limit: 100, offset: 0, hasMore: false }));
  };
  printed = collectPrinted();
  ({ directory, close } = await startStandIn((request, response) => {
    asked = request.url ?? "";
    answer(request, response);
  }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await close();
});

test("PRJ-5 OPS-4 `logs --json` prints a row as the API gives it, outcome, error and target included", async () => {
  expect(await logs(["my-server", "--json", "--data-dir", directory])).toBe(0);
  expect(JSON.parse(printed.text)).toEqual(row);
});

test("PRJ-5 OPS-4 `logs` names prompt, outcome and error on one line that cannot steer the terminal", async () => {
  expect(await logs(["my-server", "--data-dir", directory])).toBe(0);
  expect(printed.text).toMatch(/^✗ 2026-11-21T10:00:00/);
  expect(printed.text.trimEnd()).toContain("prompts/get greet [2J  rpc_error: no such prompt  test 1, anonymous");
  expect(printed.text.trimEnd()).not.toMatch(/\p{Cc}/u);
});

test("PRJ-20 OPS-4 `logs --server` folds frames of frameworks, and shows them with --verbose and as JSON", async () => {
  const texts = [
    "Traceback (most recent call last):",
    '  File "/app/.venv/lib/site-packages/fastmcp/server.py", line 1, in call_tool',
    '  File "/app/.venv/lib/site-packages/fastmcp/tools.py", line 2, in run',
    '  File "/app/src/server.py", line 3, in total',
    "ValueError: no",
  ];
  const data = texts.map((line, id) => ({ id, time: row.time, stream: "stdout", line }));
  answer = (_, response) => void response.end(JSON.stringify({ deploymentId: row.deploymentId, data }));
  const read = async (...options: string[]) => {
    printed.text = "";
    expect(await logs(["my-server", "--server", "--data-dir", directory, ...options])).toBe(0);
    return printed.text.trimEnd().split("\n");
  };
  expect((await read()).map((line) => line.replace(`${row.time}  `, ""))).toEqual([
    texts[0],
    "  … 2 frames of frameworks (--verbose shows them)",
    texts[3],
    texts[4],
  ]);
  expect(await read("--json")).toHaveLength(5);
  // The stream continues after the limited lines.
  const [entries, pages] = [data, answer];
  answer = (request, response) => {
    if (!asked.startsWith("/api/deployments/")) return pages(request, response);
    expect(asked).toMatch(/\?after=4$/);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      `event: line\ndata: ${JSON.stringify({ ...entries[0], id: 5, line: "new" })}\n\nevent: end\ndata: {}\n\n`,
    );
  };
  expect((await read("--follow", "--limit", "5")).at(-1)).toContain("new");
  printVerbosely(true);
  onTestFinished(() => printVerbosely(false));
  expect((await read())[2]).toContain("tools.py");
});

test("PRJ-5 OPS-4 `logs` takes the page's query, as words or as one", async () => {
  expect(await logs(["my-server", "tool:echo", 'client:"my client"', "--errors", "--data-dir", directory])).toBe(0);
  const { searchParams } = new URL(asked, "http://localhost");
  expect(Object.fromEntries(searchParams)).toEqual({
    limit: "100",
    query: 'status:error tool:echo client:"my client"',
  });
});

test("PRJ-5 OPS-4 `logs --follow` outlives an instance that is unreachable while rows are read", async () => {
  const rows = answer;
  let isUnreachable = true;
  answer = (request, response) => {
    if (asked.endsWith("/request-log-changes")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.end("event: changed\ndata: {}\n\nevent: end\ndata: {}\n\n");
    }
    if (!asked.includes("/logs?")) return void response.end('{"orgSlug": "acme", "pathName": "my-server"}');
    if (!isUnreachable) return rows(request, response);
    isUnreachable = false;
    response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>");
  };
  expect(await logs(["my-server", "--follow", "--data-dir", directory])).toBe(0);
  expect(printed.text).toMatch(/^The connection to the instance was lost.*\n✗ 2026-11-21T10:00:00/);
});

test("PRJ-5 OPS-4 `logs --follow --limit` begins with so many rows, and then leaves none out", async () => {
  const numbered = (number: number) => ({ ...row, id: `row-${number}`, target: `call-${number}.` });
  let newest = 10;
  answer = (_, response) => {
    if (asked.endsWith("/request-log-changes")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.end("event: changed\ndata: {}\n\nevent: changed\ndata: {}\n\nevent: end\ndata: {}\n\n");
    }
    if (!asked.includes("/logs?")) return void response.end('{"orgSlug": "acme", "pathName": "my-server"}');
    const limit = Number(new URL(asked, "http://localhost").searchParams.get("limit"));
    const data = Array.from({ length: Math.min(limit, newest) }, (_, at) => numbered(newest - at));
    newest += 5;
    response.end(JSON.stringify({ data }));
  };
  expect(await logs(["my-server", "--follow", "--limit", "2", "--data-dir", directory])).toBe(0);
  expect(printed.text.match(/call-\d+/g)).toEqual([9, 10, 11, 12, 13, 14, 15].map((number) => `call-${number}`));
});

test("PRJ-5 OPS-4 `logs` shows callers by name, and former members by id", async () => {
  const rows = [
    { ...row, principal: "user:1", principalName: "Ada Lovelace" },
    { ...row, principal: "user:2" },
  ];
  answer = (_, response) => void response.end(JSON.stringify({ data: rows }));
  expect(await logs(["my-server", "--data-dir", directory])).toBe(0);
  expect(printed.text).toMatch(/test 1, Ada Lovelace\n.*test 1, user:2\n$/);
});

test("PRJ-3 OPS-4 `logs --build` takes a commit, and with --limit prints the newest lines only", async () => {
  const line = (number: number) => ({
    line: number,
    time: row.time,
    phase: "install",
    kind: "output",
    text: `line ${number}`,
  });
  const builds = ["cccc", "abcd1234", "aaaa"].map((commitSha) => ({
    id: `id-${commitSha}`,
    commitSha,
    status: "succeeded",
  }));
  answer = (_, response) => {
    const { pathname, searchParams } = new URL(asked, "http://localhost");
    if (pathname === "/api/builds/id-abcd1234/log") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const data = JSON.stringify(line(Number(searchParams.get("after")) + 1));
      return void response.end(`event: line\ndata: ${data}\n\nevent: end\ndata: {}\n\n`);
    }
    if (pathname.endsWith("/builds")) return void response.end(JSON.stringify({ data: builds }));
    expect(pathname).toBe("/api/v1/builds/id-abcd1234/log");
    const [after, limit] = [Number(searchParams.get("after")), Number(searchParams.get("limit"))];
    const data = Array.from({ length: Math.min(limit, 2_500 - after) }, (_, index) => line(after + index + 1));
    response.end(JSON.stringify({ data }));
  };
  const build = (...args: string[]) => logs(["my-server", "--build", ...args, "--data-dir", directory]);
  expect(await build("abcd", "--limit", "2")).toBe(0);
  expect(printed.text.match(/line \d+/g)).toEqual(["line 2499", "line 2500"]);
  printed.text = "";
  await build("abcd");
  expect(printed.text.match(/line \d+/g)).toHaveLength(2_500);
  printed.text = "";
  await build("abcd", "--limit", "1", "--follow");
  expect(printed.text.match(/line \d+/g)).toEqual(["line 2500", "line 2501"]);
  await expect(build("beef")).rejects.toThrow("No build of beef. The newest are those of: cccc, abcd123, aaaa.");
});

test("OPS-4 `logs` says that there is nothing, beside the output", async () => {
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  answer = (_, response) => void response.end('{"data": []}');
  expect(await logs(["my-server", "--data-dir", directory])).toBe(0);
  expect([printed.text, stderr.mock.calls.flat().join("")]).toEqual([
    "",
    expect.stringContaining("No matching requests"),
  ]);
});
