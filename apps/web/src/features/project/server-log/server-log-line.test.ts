import { expect, test } from "vitest";
import { atLeast, requestHref, type ServerLogLine, toLogLine, toLogLines } from "./server-log-line.ts";

const line = (
  id: number,
  level: ServerLogLine["level"],
  stream: ServerLogLine["stream"] = "stderr",
): ServerLogLine => ({
  id,
  time: "2026-11-21T10:00:00.000Z",
  instanceId: null,
  caller: null,
  stream,
  level,
  requestId: null,
  line: `line ${id}`,
});
const hrefOf = requestHref({ orgSlug: "acme", projectName: "echo" });
const lines = [line(1, "debug"), line(2, "info"), line(3, "warning"), line(4, "error")];

test("PRJ-3 the level filter shows a level and everything above it", () => {
  expect(atLeast(lines, "debug")).toHaveLength(4);
  expect(atLeast(lines, "warning").map(({ id }) => id)).toEqual([3, 4]);
  expect(atLeast(lines, "error").map(({ id }) => id)).toEqual([4]);
});

test("RUN-5 the platform's own lines look different from the server's output", () => {
  expect(toLogLine(line(2, "info", "platform"), hrefOf)).toMatchObject({ id: 2, tone: "step", tag: "towpath" });
  expect(toLogLine(line(2, "info"), hrefOf)).toMatchObject({ tone: "output", tag: "stderr" });
  expect(toLogLine(line(2, "error", "platform"), hrefOf)).toMatchObject({ tone: "error" });
});

test("CAP-1 RUN-5 what the platform says of a caller's own instance begins with whose it is; its output stays", () => {
  const own = { ...line(4, "error", "platform"), caller: "Ada" };
  expect(toLogLine(own, hrefOf).text).toBe("Ada's own instance: line 4");
  expect(toLogLine({ ...own, stream: "stdout" }, hrefOf).text).toBe("line 4");
});

test("LOG-4 a line that was printed during a request links to it; others don't", () => {
  const requestId = "0199a000-0000-7000-8000-000000000001";
  expect(toLogLine({ ...line(1, "info"), requestId }, hrefOf).link?.href).toBe(`/acme/echo/logs?request=${requestId}`);
  expect(toLogLine(line(1, "info"), hrefOf)).not.toHaveProperty("link");
});

test("RUN-5 PRJ-20 frames of frameworks are one line with all their text, which can be searched and copied", () => {
  const texts = [
    "Traceback (most recent call last):",
    '  File "/app/.venv/lib/site-packages/fastmcp/server.py", line 1, in call_tool',
    "    return await tool.run()",
    '  File "/app/.venv/lib/site-packages/fastmcp/tools.py", line 2, in run',
    '  File "/app/src/server.py", line 3, in total',
    "ValueError: no",
  ];
  const shown = toLogLines(
    texts.map((text, index) => ({ ...line(index + 1, "error"), line: text })),
    hrefOf,
  );
  expect(shown.map(({ id, summary }) => [id, summary])).toEqual([
    ...[[1], [2, "2 frames of frameworks"], [5], [6]].map(([id, summary]) => [id, summary]),
  ]);
  expect(shown.map(({ text }) => text).join("\n")).toBe(texts.join("\n"));
});
