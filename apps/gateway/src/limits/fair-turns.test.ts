import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairTurns } from "./fair-turns.ts";

/** Begins `count` requests of an organization at once and records their names in the order in which they begin. */
function burst(turns: FairTurns, begun: string[], { name, count }: { name: string; count: number }): void {
  for (let at = 1; at <= count; at++) {
    const turn = turns.take(name, count);
    if (turn) void turn.then(() => begun.push(`${name}${at}`));
    else begun.push(`${name}${at}`);
  }
}

test("GW-8 a few requests of a burst begin in each turn, and another organization's begin at once", async () => {
  const [turns, begun] = [new FairTurns(), [] as string[]];
  burst(turns, begun, { name: "noisy", count: 100 });
  expect([begun.length, turns.size]).toEqual([8, 92]);
  burst(turns, begun, { name: "quiet", count: 3 });
  expect(begun.slice(8)).toEqual(["quiet1", "quiet2", "quiet3"]);
  for (let turn = 1; turn <= 5; turn++) {
    await nextTurn();
    expect(begun.length - 3).toBe(8 + turn * 8);
    expect(turns.take("quiet", 1)).toBeUndefined();
  }
  while (turns.size > 0) await nextTurn();
  // All of them, in their order.
  expect(begun.filter((name) => name.startsWith("noisy"))).toEqual(
    Array.from({ length: 100 }, (_, at) => `noisy${at + 1}`),
  );
  await nextTurn();
  expect(turns.take("noisy", 100)).toBeUndefined();
});

test("GW-8 organizations that wait take turns, however much each of them asks for", async () => {
  const [turns, begun] = [new FairTurns(), [] as string[]];
  burst(turns, begun, { name: "a", count: 200 });
  burst(turns, begun, { name: "b", count: 16 });
  burst(turns, begun, { name: "c", count: 10 });
  begun.length = 0;
  await nextTurn();
  expect(begun).toEqual(["a9", "b9", "c9", "a10", "b10", "c10", "a11", "b11"]);
  await nextTurn();
  expect(begun.slice(8)).toEqual(["a12", "b12", "a13", "b13", "a14", "b14", "a15", "b15"]);
  await nextTurn();
  expect(begun.slice(16)).toEqual(["a16", "b16", ...Array.from({ length: 6 }, (_, at) => `a${17 + at}`)]);
});

test("GW-8 a request queues behind the waiting ones of its organization", async () => {
  const [turns, begun] = [new FairTurns(), [] as string[]];
  burst(turns, begun, { name: "a", count: 40 });
  await nextTurn();
  const late = turns.take("a", 41);
  void late?.then(() => begun.push("late"));
  while (turns.size > 0) await nextTurn();
  await nextTurn();
  expect(begun.at(-1)).toBe("late");
  expect(begun).toHaveLength(41);
});
