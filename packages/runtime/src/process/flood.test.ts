import { expect, test } from "vitest";
import { floodGate } from "./flood.ts";

test("RUN-5 lines above the rate are dropped, counted and said; they pass again later", () => {
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
