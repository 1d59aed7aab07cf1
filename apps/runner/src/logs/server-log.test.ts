import type { ServerLogRow } from "@towpath/logs";
import { createRedactor } from "@towpath/secrets/redaction";
import { expect, test } from "vitest";
import { logLevelReader, serverLog } from "./server-log.ts";

test.each([
  ["plain text", "info"],
  ["INFO:     Started server process", "info"],
  ["WARNING:root:disk is nearly full", "warning"],
  ["ERROR - it broke", "error"],
  ["[DEBUG] details", "debug"],
  ["CRITICAL: all is lost", "error"],
  ["2026-11-21 10:00:00,123 - app - ERROR - it broke", "error"],
  ["[11/21/26 10:00:00] WARNING  careful  server.py:10", "warning"],
  ["2026-11-21T10:00:00Z DEBUG app: x", "debug"],
  ['{"level":"warn","msg":"x"}', "warning"],
  ['{"severity":"ERROR"}', "error"],
  ['{"level":50}', "error"],
  ['{"level":30}', "info"],
  ['{"level":', "info"],
  ["{}", "info"],
  ["Errors are counted here", "info"],
  ["no ERROR is meant by this sentence", "info"],
  ["informational text", "info"],
  ["", "info"],
])("RUN-5 level of %j is %s", (line, level) => {
  expect(logLevelReader()("stderr", line)).toBe(level);
});

test("RUN-5 a traceback is an error from its first line to the exception, on its stream only", () => {
  const read = logLevelReader();
  const levels = [
    "before",
    "Traceback (most recent call last):",
    '  File "server.py", line 3, in f',
    "    boom()",
    "ValueError: no",
    "",
    "During handling of the above exception, another exception occurred:",
    "Traceback (most recent call last):",
    "  File …",
    "KeyError: 'x'",
    "after",
  ].map((line) => read("stderr", line));
  expect(levels).toEqual(["info", ...Array(4).fill("error"), "info", ...Array(4).fill("error"), "info"]);
  expect(read("stdout", "  indented")).toBe("info");
});

test("RUN-5 the level of lines of digits, spaces and brackets of maximum length is found in linear time", () => {
  const read = logLevelReader();
  const starts = ["", "11:11:11", "[2026-11-21 10:00:00", "  "];
  const lines = starts.flatMap((start) => ["1", " ", "[", "1.", "| "].map((unit) => start + unit.repeat(80_000)));
  const begun = performance.now();
  for (const line of lines) expect(read("stderr", line)).toBe("info");
  // Any one of the first kind took minutes before.
  expect(performance.now() - begun).toBeLessThan(10_000);
});

test("LOG-4 RUN-5 the mark of a request becomes its id in every line; other control characters stay", () => {
  const rows: ServerLogRow[] = [];
  const log = serverLog(
    { projectId: "p", deploymentId: "d" },
    (row) => rows.push(row),
    createRedactor({ TOKEN: "s3cret" }),
  );
  const write = log.output("i");
  const id = "0199a000-0000-7000-8000-000000000001";
  const lines = [
    `\u001e${id}\u001fERROR s3cret`,
    `\u001e${id}\u001f`,
    "plain",
    `\u001e${id} x`,
    "\u001enot a uuid, but of the same length..\u001fx",
  ];
  for (const line of lines) write("stderr", line, new Date(0));
  log.platform("i", "info", "Started.");
  expect(rows.map(({ requestId, level, line }) => [requestId, level, line])).toEqual([
    [id, "error", "ERROR [TOKEN]"],
    [id, "info", ""],
    [null, "info", "plain"],
    [null, "info", lines[3]],
    [null, "info", lines[4]],
    [null, "info", "Started."],
  ]);
});
