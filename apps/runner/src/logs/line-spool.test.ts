import { randomUUID } from "node:crypto";
import { appendFile, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { createTestDatabase } from "@towpath/db/testing";
import { type ServerLogRow, unwrittenServerLogs, writeServerLogs } from "@towpath/logs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LineSpool } from "./line-spool.ts";

let directory: string;
const ids = { projectId: randomUUID(), deploymentId: randomUUID(), instanceId: randomUUID() };
const start = new Date();
const row = (line: string, ms = 0): ServerLogRow => ({
  ...ids,
  time: new Date(start.getTime() - 10_000 + ms),
  stream: "stdout",
  level: "info",
  requestId: null,
  line,
});
const open = () => new LineSpool(join(directory, "lines"), (error) => expect.unreachable(String(error)));
const files = () => readdir(join(directory, "lines"));

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-lines-"));
});
afterEach(() => rm(directory, { recursive: true }));

test("RUN-5 RUN-8 lines that no runner has written are found by the next one, in order, once each, and a cut one is left out", async () => {
  const killed = open();
  killed.takeOver();
  const rows = Array.from({ length: 3000 }, (_, at) => row(`line ${at} ${"x".repeat(200)}`, at));
  for (const each of rows) killed.keep(each);
  await turn();
  expect((await files()).length).toBe(1);
  expect((await stat(join(directory, "lines"))).mode & 0o777).toBe(0o700);
  killed.release(rows.slice(0, 1000));
  for (const each of rows.slice(0, 10)) killed.keep({ ...each, line: "more" });
  await turn();
  const [, last = ""] = (await files()).sort();
  await appendFile(join(directory, "lines", last), '{"time":"2026');

  const next = open();
  const found = next.takeOver();
  expect(found).toEqual([...rows, ...rows.slice(0, 10).map((each) => ({ ...each, line: "more" }))]);
  // They are on disk already.
  for (const each of found) next.keep(each);
  next.release(found);
  next.close();
  expect(await files()).toEqual([]);
});

test("RUN-5 RUN-8 lines of a killed runner's last write are not stored twice", async () => {
  const database = await createTestDatabase();
  const rows = [row("same", 1), row("same", 1), row("nul \0 and \ud800", 2), row("other stream", 3), row("later", 4)];
  await writeServerLogs(database.pool, rows.slice(0, 1));
  await writeServerLogs(database.pool, rows.slice(2, 3));
  const elsewhere = { ...row("other stream", 3), deploymentId: randomUUID() };
  await writeServerLogs(database.pool, [elsewhere, { ...row("other stream", 3), stream: "stderr" }]);
  expect(await unwrittenServerLogs(database.pool, rows)).toEqual([rows[1], rows[3], rows[4]]);
  expect(await unwrittenServerLogs(database.pool, [])).toEqual([]);
  await database.close();
});
