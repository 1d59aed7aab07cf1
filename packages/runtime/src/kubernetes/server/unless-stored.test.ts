import { expect, test } from "vitest";
import type { OutputStream } from "../../port/execution.ts";
import { unlessStored } from "./unless-stored.ts";

type Line = readonly [stream: OutputStream, line: string, ms: number];

/** What is passed on of `log`. `stored`: the last one that was stored first. */
function passed(log: readonly Line[], stored: readonly Line[], { isAll = true } = {}): string[] {
  const lines: string[] = [];
  const stores = { lines: stored.map(([stream, , ms]) => ({ stream, time: new Date(ms) })), isAll };
  const sink = unlessStored((_, line) => lines.push(line), stores);
  for (const [stream, line, ms] of log) sink(stream, line, new Date(ms));
  return lines;
}

const log: readonly Line[] = [
  ["stdout", "a", 1],
  ["stderr", "b", 2],
  ["stdout", "c", 3],
  ["stdout", "d", 3],
  ["stdout", "e", 4],
];

test("RUN-5 RUN-8 lines that are stored are skipped, of each stream and of the same millisecond", () => {
  expect(passed(log, [])).toEqual(["a", "b", "c", "d", "e"]);
  const upTo = (count: number) => log.slice(0, count).toReversed();
  expect(passed(log, upTo(1))).toEqual(["b", "c", "d", "e"]);
  expect(passed(log, upTo(3))).toEqual(["d", "e"]);
  expect(passed(log, upTo(5))).toEqual([]);
});

test("RUN-5 RUN-8 a stream without a line among the newest is skipped up to them", () => {
  expect(passed(log, log.slice(2, 4).toReversed(), { isAll: false })).toEqual(["e"]);
});

test("RUN-5 RUN-8 nothing is skipped after the first line that isn't stored", () => {
  const later: readonly Line[] = [...log, ["stdout", "after the clock was set back", 1]];
  expect(passed(later, log.slice(0, 4).toReversed())).toEqual(["e", "after the clock was set back"]);
});

test("RUN-5 RUN-8 lines that a runner had kept may be stored after newer ones of another", () => {
  const [a, b, c, d, e] = log as readonly [Line, Line, Line, Line, Line];
  expect(passed(log, [a, d, c, b])).toEqual(["e"]);
  expect(passed(log, [c, a, e, d, b])).toEqual([]);
});
