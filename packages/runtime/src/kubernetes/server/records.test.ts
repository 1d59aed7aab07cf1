import { expect, test } from "vitest";
import { Records } from "./records.ts";

type Line = readonly [stream: string, line: string, ms: number, sequence: number | undefined];

function reader(last = {}) {
  const lines: Line[] = [];
  const usage: unknown[] = [];
  const prewarm: unknown[] = [];
  const records = new Records(
    (stream, line, time, sequence) => lines.push([stream, line, time.getTime(), sequence]),
    last,
    { usage: (used) => usage.push(used), prewarm: (status) => prewarm.push(status) },
  );
  return { lines, usage, prewarm, push: (text: string) => records.push(Buffer.from(text)), records };
}

const log = "o 6 1000 first\ne 4 1001 bad\r\nO 9000 1002 long\nx 9100 1003 12 340\n";

test("RUN-5 RUN-7 the records of a pod's log become lines, in any parts", () => {
  const { lines, push } = reader();
  for (const character of log) push(character);
  expect(lines).toEqual([
    ["stdout", "first", 1000, 6],
    ["stderr", "bad", 1001, 4],
    ["stdout", "long … [line cut at 8 KiB]", 1002, 9000],
    ["stdout", "… 12 lines (340 bytes) dropped: more than 500 lines or 262144 bytes a second", 1003, 9100],
  ]);
});

test("RUN-8 RUN-7 a log that is read again gives each line once, and none that an earlier runner has kept", () => {
  const { lines, push, records } = reader({ stdout: 6 });
  push(log);
  records.restart();
  // The line that follows dropped ones comes with the same position.
  push(`${log}o 9100 1004 next\n`);
  records.restart();
  push(`${log}o 9100 1004 next\n`);
  expect(lines.map(([, line]) => line)).toEqual([
    "bad",
    "long … [line cut at 8 KiB]",
    expect.stringContaining("dropped"),
    "next",
  ]);
});

test("RUN-7 text that isn't a record is left out; stacks, the use of data and the state of an interpreter are kept apart from lines", () => {
  const { lines, usage, prewarm, records, push } = reader();
  push("cut off\no x 1 y\ns 0 5 Thread (most recent call first):\nu 0 6 10 200\no 3 7 a\0b\n");
  expect(lines).toEqual([["stdout", "a\ufffdb", 7, 3]]);
  expect(records.stack).toEqual(["Thread (most recent call first):"]);
  expect(usage).toEqual([{ usedBytes: 10, capacityBytes: 200 }]);
  push('p 0 7 {"state":"prewarmed"}\np 0 8 {"state":"other"}\np 0 9 no JSON\n');
  expect(prewarm).toEqual([{ state: "prewarmed" }]);
  push(`${"o".repeat(100_000)}\no 4 8 after\n`);
  expect(lines.at(-1)?.[1]).toBe("after");
});
