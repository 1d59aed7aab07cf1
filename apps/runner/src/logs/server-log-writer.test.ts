import { setTimeout as sleep } from "node:timers/promises";
import type { ServerLogRow } from "@towpath/logs";
import { expect, test } from "vitest";
import { createServerLogWriter } from "./server-log-writer.ts";

const row = (line: string): ServerLogRow => ({
  time: new Date(0),
  projectId: "p",
  deploymentId: "d",
  instanceId: null,
  stream: "stdout",
  level: "info",
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
  );
  const lines = Array.from({ length: 1234 }, (_, index) => `line ${index}`);
  for (const line of lines) writer.push(row(line));
  await writer.close(1000);
  expect(written).toEqual(lines);
  expect(batches.length).toBeLessThan(6);
});

test("RUN-5 while the database is away lines are held, bounded, and the loss is said", async () => {
  let away = true;
  const written: string[] = [];
  const writer = createServerLogWriter(
    async (rows) => {
      if (away) throw new Error("away");
      written.push(...rows.map((each) => each.line));
    },
    () => {},
  );
  for (let index = 0; index < 21_000; index += 1) writer.push(row(String(index)));
  await sleep(20);
  away = false;
  await writer.close(5000);
  expect(written[0]).toBe("… 1000 lines were lost while the log could not be written");
  expect(written.slice(1)).toEqual(Array.from({ length: 20_000 }, (_, index) => String(index + 1000)));
});
