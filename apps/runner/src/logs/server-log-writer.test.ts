import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerLogRow } from "@towpath/logs";
import { expect, onTestFinished, test } from "vitest";
import { LineSpool } from "./line-spool.ts";
import { createServerLogWriter } from "./server-log-writer.ts";

/** A spool of its own, which must be empty in the end. */
function openSpool(): LineSpool {
  const directory = mkdtempSync(join(tmpdir(), "tp-lines-"));
  onTestFinished(() => {
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  });
  return new LineSpool(directory, (error) => expect.unreachable(String(error)));
}

const row = (line: string): ServerLogRow => ({
  time: new Date(0),
  projectId: "p",
  deploymentId: "d",
  instanceId: null,
  stream: "stdout",
  level: "info",
  requestId: null,
  line,
});

test("RUN-5 lines are written in batches and in order", async () => {
  const batches: number[] = [];
  const written: string[] = [];
  const writer = createServerLogWriter(
    async (rows) => {
      batches.push(rows.length);
      written.push(...rows.map((each) => each.line));
    },
    () => {},
    openSpool(),
  );
  const lines = Array.from({ length: 1234 }, (_, index) => `line ${index}`);
  for (const line of lines) writer.push(row(line));
  await writer.close(1000);
  expect(written).toEqual(lines);
  expect(batches.length).toBeLessThan(6);
});

test("RUN-5 while the database is unavailable, lines are buffered up to a limit, and the number of lost lines is logged", async () => {
  let isUnreachable = true;
  let failed = 0;
  const written: string[] = [];
  const writer = createServerLogWriter(
    async (rows) => {
      if (isUnreachable) {
        failed += 1;
        throw new Error("unreachable");
      }
      written.push(...rows.map((each) => each.line));
    },
    () => {},
    openSpool(),
  );
  for (let index = 0; index < 21_000; index += 1) writer.push(row(String(index)));
  await expect.poll(() => failed).toBeGreaterThan(0);
  isUnreachable = false;
  await writer.close(5000);
  expect(written[0]).toBe("… 1000 lines were lost while the log could not be written");
  expect(written.slice(1)).toEqual(Array.from({ length: 20_000 }, (_, index) => String(index + 1000)));
});

test("RUN-5 a project that floods the log displaces its own lines only, and its log says so", async () => {
  let isUnreachable = true;
  let failed = 0;
  const written: ServerLogRow[] = [];
  const writer = createServerLogWriter(
    async (rows) => {
      if (isUnreachable) {
        failed += 1;
        throw new Error("unreachable");
      }
      written.push(...rows);
    },
    () => {},
    openSpool(),
  );
  const quiet = Array.from({ length: 50 }, (_, at) => ({ ...row(`quiet ${at}`), projectId: "q", deploymentId: "dq" }));
  for (const line of quiet) writer.push(line);
  for (let at = 0; at < 30_000; at++) writer.push(row(`chatty ${at}`));
  await expect.poll(() => failed).toBeGreaterThan(0);
  isUnreachable = false;
  await writer.close(5000);
  expect(written.filter((line) => line.projectId === "q")).toEqual(quiet);
  const chatty = written.filter((line) => line.projectId === "p");
  expect(chatty[0]).toMatchObject({
    stream: "platform",
    line: "… 10050 lines were lost while the log could not be written",
  });
  expect(chatty).toHaveLength(19_951);
});

test("RUN-5 a line that the database rejects is dropped, reported once, and delays no other", async () => {
  const written: string[] = [];
  const errors: string[] = [];
  const writer = createServerLogWriter(
    async (rows) => {
      if (rows.some((each) => each.line === "bad")) throw Object.assign(new Error("refused"), { code: "22021" });
      written.push(...rows.map((each) => each.line));
    },
    (error) => errors.push(String(error)),
    openSpool(),
  );
  for (const line of ["a", "bad", "b", "c"]) writer.push(row(line));
  await expect.poll(() => written).toEqual(["a", "b", "c"]);
  writer.push(row("d"));
  await writer.close(1000);
  expect(written.slice(3)).toEqual(["… 1 line was lost while the log could not be written", "d"]);
  expect(errors).toEqual(["Error: a log line of deployment d was rejected by the database and dropped"]);
});
