import { expect, test } from "vitest";
import { defaultFloodLimits, floodGate } from "./flood.ts";
import { splitLines } from "./lines.ts";

test("RUN-5 lines above the rate are dropped and their number is logged; later lines pass again", () => {
  let time = 1_000_000;
  const lines: string[] = [];
  const gate = floodGate(
    (stream, line) => lines.push(`${stream} ${line}`),
    { linesPerSecond: 10, bytesPerSecond: 1000, burstSeconds: 1 },
    () => time,
  );
  for (let count = 0; count < 50; count += 1) gate.line("stdout", `line ${count}`, 8);
  expect(lines.filter((line) => line.startsWith("stdout line"))).toHaveLength(10);
  time += 500;
  gate.line("stderr", "after", 6);
  expect(lines.at(-1)).toBe("stderr after");
  const dropped = lines.flatMap((line) => /… (\d+) lines/.exec(line)?.[1] ?? []).reduce((sum, n) => sum + Number(n), 0);
  expect(dropped).toBe(40);
});

test("RUN-5 bytes are limited too", () => {
  const lines: string[] = [];
  const gate = floodGate(
    (_, line) => lines.push(line),
    { linesPerSecond: 100, bytesPerSecond: 1000, burstSeconds: 1 },
    () => 5,
  );
  for (let count = 0; count < 5; count += 1) gate.line("stdout", "x", 600);
  gate.flush();
  expect(lines.filter((line) => line === "x")).toHaveLength(2);
  expect(lines.at(-1)).toMatch(/dropped/);
});

test("RUN-5 millions of empty lines are counted without being decoded one by one", () => {
  const passed: string[] = [];
  const gate = floodGate((_, line) => passed.push(line), defaultFloodLimits);
  const splitter = splitLines((line, bytes) => gate.line("stdout", line, bytes), {
    isOpen: gate.isOpen,
    skip: (lines, bytes) => gate.skip("stdout", lines, bytes),
  });
  const chunk = Buffer.alloc(64 * 1024, "\n");
  const before = process.cpuUsage();
  for (let count = 0; count < 256; count += 1) splitter.push(chunk);
  const { user, system } = process.cpuUsage(before);
  // 16 MiB, four times what a pipe is read in a tenth of a second. One by one it took 4 s and more.
  expect((user + system) / 1000).toBeLessThan(1000);
  gate.flush();
  const dropped = passed.flatMap((line) => /… (\d+) lines/.exec(line)?.[1] ?? []).map(Number);
  const whole = passed.filter((line) => line === "").length;
  expect(whole + dropped.reduce((sum, each) => sum + each, 0)).toBe(256 * 64 * 1024);
});
