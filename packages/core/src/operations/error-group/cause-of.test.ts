import { expect, test } from "vitest";
import { causeOf, type FailedCall } from "./cause-of.ts";
import { normalizedMessage } from "./normalized-message.ts";
import { fingerprintOf } from "./tally.ts";

const failed: FailedCall = {
  method: "tools/call",
  target: "total",
  outcome: "tool_error",
  httpStatus: 200,
  errorCode: null,
  errorMessage: "Error calling tool 'total': could not convert string to float: 'four'",
  refusal: null,
  wasSent: true,
  startError: null,
  end: null,
};
const library = "/app/.venv/lib/python3.11/site-packages";
const begin = "Traceback (most recent call last):";
const frame = (path: string, line: number, name: string) => [`  File "${path}", line ${line}, in ${name}`, "    x"];
const ofFramework = frame(`${library}/fastmcp/server/server.py`, 1497, "call_tool");
const raise = (exception: string, line = 7, file = "prices.py", name = "parse") => [
  "ERROR: Error calling tool 'total'",
  begin,
  ...ofFramework,
  ...frame(`/app/src/${file}`, line, name),
  exception,
];
const keyOf = (call: Partial<FailedCall>, lines: readonly string[] = []) => {
  const cause = causeOf({ ...failed, ...call }, lines);
  return cause && fingerprintOf(cause.key);
};

test("CAP-6 a traceback groups by tool, type of the exception, and the file and function of the own frame", () => {
  const lines = raise("ValueError: could not convert string to float: 'four'");
  expect(causeOf(failed, lines)).toEqual({
    key: ["raised", "tools/call", "total", "ValueError", "prices.py", "parse"],
    title: "ValueError: could not convert string to float: 'four'",
    exception: "ValueError",
    frame: { file: "prices.py", line: 7, name: "parse" },
    method: "tools/call",
    target: "total",
  });
  const known = keyOf({}, lines);
  // Another value, and an edit above that moves the line.
  expect(keyOf({ errorMessage: "other" }, raise("ValueError: could not convert 'five'", 19))).toBe(known);
  const others = [
    keyOf({ target: "sum" }, lines),
    keyOf({}, raise("KeyError: 'four'")),
    keyOf({}, raise("ValueError: no", 7, "taxes.py")),
    keyOf({}, raise("ValueError: no", 7, "prices.py", "round_up")),
    keyOf({}),
  ];
  expect(new Set([known, ...others]).size).toBe(6);
});

test("CAP-6 of what a framework wraps, the exception with the own frame counts; colors are left out", () => {
  const wrapped = [
    ...raise("httpx.ConnectError: no route"),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    begin,
    ...ofFramework,
    "fastmcp.exceptions.ToolError: Error calling tool 'total'",
  ];
  expect(causeOf(failed, wrapped)).toMatchObject({ exception: "httpx.ConnectError", frame: { file: "prices.py" } });
  const colored = raise("ValueError: no").map((line) => `\u001b[31m${line}\u001b[0m`);
  expect(causeOf(failed, colored)).toMatchObject({ exception: "ValueError", title: "ValueError: no" });
  // Without a frame of its own, the last exception.
  expect(causeOf(failed, [begin, ...ofFramework, "OSError: no"])).toMatchObject({ exception: "OSError", frame: null });
});

test.each([
  ["Order 4711 not found", "Order 12 not found"],
  ["no user ada@example.com", "no user grace.hopper@example.org"],
  ["can't open 'a.txt', it doesn't exist", "can't open 'b/c.txt', it doesn't exist"],
  ['key "x" is missing', 'key "other one" is missing'],
  ["GET https://api.example.com/v1/a?b=c failed", "GET https://api.example.com/v2/d failed"],
  [
    "job 0199a000-0000-7000-8000-000000000001 at 2026-11-27T10:00:00Z",
    "job 0199a000-0000-7000-8000-000000000002 at 2026-11-28T11:00:00Z",
  ],
  ["customer cus_9s6XKzkNRiz8i3 is gone", "customer cus_1aBc is gone"],
  ["took 1.5s of -3 allowed", "took 20ms of 4 allowed"],
  ["expected [1, 2, 3]", "expected [4]"],
  ["bad payload {'a': 1}", "bad payload {'b': 'c', 'd': 2}"],
  ["no such file: /srv/data/ada/report.csv", "no such file: /srv/data/grace/other.csv"],
  ["10.0.0.1:8080 refused", "10.1.2.3:9 refused"],
])("CAP-6 messages group without their values: %s", (one, other) => {
  expect(keyOf({ errorMessage: one })).toBe(keyOf({ errorMessage: other }));
  expect(normalizedMessage(one)).toMatch(/[a-z]{2}/);
});

test("CAP-6 messages that differ in words are different, and long ones take no long time", () => {
  const keys = ["rate limit reached", "upstream is down", "no such city", ""].map((errorMessage) =>
    keyOf({ errorMessage }),
  );
  expect(new Set(keys).size).toBe(4);
  const before = process.threadCpuUsage();
  for (const piece of ["'", '"', "a", "a'", "1.", "/a", "[", "{'", "…", " \n"])
    expect(normalizedMessage(piece.repeat(100_000)).length).toBeLessThanOrEqual(200);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000, "milliseconds of processor time").toBeLessThan(500);
});

test.each([
  ["1 validation error for call[total]\nprice\n  Field required", null],
  ["Error calling tool 'total': 2 validation errors for call[total]\nprice", null],
  ["Error executing tool total: 1 validation error for totalArguments\nprice\n  Field required", null],
  ["Input validation error: 'four' is not of type 'number'", null],
  ["Unknown tool: totl", null],
  ["Tool 'totl' not found", null],
])("CAP-6 what the caller got wrong is no error of the server: %s", (errorMessage) => {
  expect(keyOf({ errorMessage })).toBeNull();
  // The framework logs its own traceback of it.
  expect(
    keyOf({ errorMessage }, [begin, ...ofFramework, "pydantic_core.ValidationError: 1 validation error"]),
  ).toBeNull();
  // A tool that validates what it got from elsewhere raises in its own code.
  expect(keyOf({ errorMessage }, raise("pydantic_core.ValidationError: 1 validation error for Price"))).not.toBeNull();
});

test("CAP-6 protocol errors count unless they blame the request; HTTP errors by their status", () => {
  const rpc = { outcome: "rpc_error", errorMessage: "boom" };
  for (const errorCode of [-32700, -32600, -32601, -32602, -32002, -32042])
    expect(keyOf({ ...rpc, errorCode })).toBeNull();
  for (const errorCode of [-32603, 0, -32000, 7]) expect(keyOf({ ...rpc, errorCode })).not.toBeNull();
  const http = causeOf({ ...failed, outcome: "http_error", httpStatus: 500, errorMessage: null }, []);
  expect(http?.title).toBe("HTTP 500 without a message");
});

test("CAP-6 a crash counts with its reason, by tool; what the platform did, or a full host, doesn't", () => {
  const refused = { outcome: "gateway_error", refusal: "server_unreachable", errorMessage: "closed" };
  const crash = { ...refused, end: { isCrash: true, reason: "it used more than its 512 MiB of memory" } };
  expect(causeOf({ ...failed, ...crash }, [])).toMatchObject({
    title: "The server crashed: it used more than its 512 MiB of memory",
    target: "total",
  });
  expect(keyOf({ ...crash, target: "sum" })).not.toBe(keyOf(crash));
  expect(keyOf({ ...crash, outcome: "closed_by_server", refusal: null })).toBe(keyOf(crash));
  expect(keyOf({ ...refused, end: { isCrash: false, reason: "replaced" } })).toBeNull();
  expect(keyOf({ ...refused, wasSent: false })).toBeNull();
  expect(causeOf({ ...failed, ...refused }, [])?.title).toBe("The server closed the connection before it answered");
  const start = { ...refused, refusal: "server_failed_to_start", wasSent: false };
  expect(causeOf({ ...failed, ...start, startError: "start_failed" }, [])).toMatchObject({ target: null });
  for (const startError of ["capacity", "unavailable", "stopping", "isolation_unavailable", "unreachable", null])
    expect(keyOf({ ...start, startError })).toBeNull();
  for (const refusal of ["unauthorized", "caller_rate_limited", "tool_not_allowed", "gateway_error"])
    expect(keyOf({ ...refused, refusal })).toBeNull();
});
