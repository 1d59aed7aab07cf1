import { randomUUID } from "node:crypto";
import { requestLogRow } from "@towpath/logs/testing";
import { expect, test } from "vitest";
import { headLine, lineOf, rowsOfSegment } from "./spool-lines.ts";

const row = requestLogRow({
  projectId: randomUUID(),
  requestId: randomUUID(),
  instanceId: "instance",
  target: 'echo "one"\n',
  errorCode: -32_000,
  errorMessage: "broken",
  refusal: "code",
  heldMs: 2.5,
  serverMs: 3.5,
  startAttempt: { outcome: "started", placeMs: 1, startMs: 2, wakeMs: null, reason: null },
  session: "session",
  traceId: "trace",
  requestPayload: { id: [1, null] },
  responsePayload: "text",
  requestTruncated: true,
  responseTruncated: true,
});

test("GW-10 a row read from a segment equals the written one in each column", () => {
  const plain = requestLogRow({ projectId: randomUUID() });
  expect(rowsOfSegment(headLine + lineOf(row) + lineOf(plain))).toEqual([row, plain]);
});

test("GW-10 a line that a crash cut off is left out, and so is a segment without its first line", () => {
  const whole = headLine + lineOf(row) + lineOf(row);
  expect(rowsOfSegment(whole.slice(0, -10))).toEqual([row]);
  expect(rowsOfSegment(headLine.slice(0, 40))).toEqual([]);
  expect(rowsOfSegment("")).toEqual([]);
});

test("GW-10 segments of other versions are read by the names in them", () => {
  expect(rowsOfSegment(`${JSON.stringify(row)}\n${JSON.stringify(row)}\n{"id":"`)).toEqual([row, row]);
  expect(rowsOfSegment('["time","new","projectId","id"]\n[5,6,"p","i"]\n')).toEqual([
    { time: 5, new: 6, projectId: "p", id: "i" },
  ]);
});
