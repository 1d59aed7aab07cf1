import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { writeServerLogs } from "@towpath/logs";
import { beforeEach, expect, test } from "vitest";
import type { ServerLine } from "./server-log.ts";
import { takeOverLines } from "./taken-over-lines.ts";

const database = openTestDatabase();
const start = Date.now() - 60_000;
let of = { deploymentId: "", instanceId: "" };
beforeEach(() => {
  of = { deploymentId: randomUUID(), instanceId: randomUUID() };
});

const projectId = randomUUID();
/** By milliseconds, which is its text and sequence too. */
const row = (ms: number, change: Partial<ServerLine> = {}): ServerLine => ({
  ...of,
  projectId,
  time: new Date(start + ms),
  stream: "stdout",
  level: "info",
  requestId: null,
  line: String(ms),
  sequence: ms,
  ...change,
});
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => row(from + at));
const store = (lines: readonly ServerLine[]) => writeServerLogs(database.pool, lines);

/** The texts that are passed on of a log that is read from its beginning, after what an earlier runner kept. */
async function passed(log: readonly ServerLine[], kept: readonly ServerLine[] = []) {
  const lines: string[] = [];
  const push = ({ line }: ServerLine) => lines.push(line);
  const spool = { takeOver: () => [...kept], release: () => {} };
  const takenOver = await takeOverLines(database.pool, spool, push);
  const pushNew = await takenOver.unlessStored(of, push);
  for (const each of log) pushNew(each);
  return lines;
}

test("RUN-5 RUN-8 of a log that is read again, the next runner stores what isn't stored", async () => {
  const log = [row(1), row(2, { stream: "stderr" }), row(3), row(3), row(4)];
  expect(await passed(log)).toEqual(["1", "2", "3", "3", "4"]);
  await store(log.slice(0, 3));
  expect(await passed(log)).toEqual(["3", "4"]);
  await store(log.slice(3));
  expect(await passed(log)).toEqual([]);
  // The driver's own lines aren't in it.
  const { sequence, ...own } = row(3);
  expect(await passed([own])).toEqual(["3"]);
});

test("RUN-5 RUN-8 a clock that is set back hides no line from the next runner", async () => {
  const log = [...rows(10_000, 10_010), ...rows(0, 286)];
  await store(log.slice(0, 10));
  expect(await passed(log)).toEqual(log.slice(10).map(({ line }) => line));
  await store(log.slice(10, 20));
  expect(await passed(log)).toEqual(log.slice(20).map(({ line }) => line));
});

test("RUN-5 RUN-8 lines that no runner stored before later ones are stored by the next", async () => {
  const log = rows(0, 1500);
  await store(log.filter((_, at) => at < 700 || at >= 986));
  expect(await passed(log)).toEqual(log.slice(700, 986).map(({ line }) => line));
});

test("RUN-5 RUN-8 of a long log, the newest stored lines are compared, and those before them are left alone", async () => {
  const log = rows(0, 3000);
  await store(log.slice(0, 2500));
  expect(await passed(log)).toEqual(log.slice(2500).map(({ line }) => line));
  // Also if earlier lines were stored last, and if the clock has been set back less far than these lines reach.
  await store(log.slice(2500, 2990));
  await store([row(-1), row(-2)]);
  const setBack = rows(2700, 2800).map((each) => ({ ...each, line: "after the clock was set back" }));
  const expected = [...log.slice(2990).map(({ line }) => line), ...setBack.map(({ line }) => line)];
  expect(await passed([row(-2), row(-1), ...log, ...setBack])).toEqual(expected);
});

test("RUN-5 RUN-8 lines that an earlier runner kept are passed on once, unless they are stored", async () => {
  const log = rows(0, 10);
  await store(log.slice(0, 5));
  expect(await passed(log, log.slice(3, 8))).toEqual(["5", "6", "7", "8", "9"]);
});
