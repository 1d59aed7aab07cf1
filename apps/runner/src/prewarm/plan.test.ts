import { expect, test } from "vitest";
import { type Demand, planPrewarm, prewarmBytes } from "./plan.ts";

const demand = (kind: string, change: Partial<Demand> = {}): Demand => ({
  kind,
  organizationId: kind.split("-")[0] ?? "",
  idleServers: 1,
  lastUsedAt: 0,
  bytes: 100,
  ...change,
});
const planned = (demands: readonly Demand[], memoryBytes: number) => [...planPrewarm(demands, memoryBytes)];

test("RUN-3 each kind gets an interpreter before any gets a second, the most recently used first", () => {
  const kinds = [
    demand("a-1", { idleServers: 3, lastUsedAt: 1 }),
    demand("a-2", { lastUsedAt: 3 }),
    demand("a-3", { lastUsedAt: 2, idleServers: 0 }),
  ];
  expect(planned(kinds, 250)).toEqual([
    ["a-2", 1],
    ["a-3", 1],
  ]);
  expect(planned(kinds, 10_000)).toEqual([
    ["a-2", 1],
    ["a-3", 1],
    ["a-1", 3],
  ]);
});

test("RUN-3 organizations get equal parts of the memory, and the rest goes to those that need it", () => {
  const many = Array.from({ length: 50 }, (_, index) => demand(`busy-${index}`, { lastUsedAt: 100 + index }));
  const kinds = [...many, demand("quiet-1"), demand("small-1", { bytes: 300 })];
  const plan = planPrewarm(kinds, 1000);
  expect(plan.get("quiet-1")).toBe(1);
  expect(plan.get("small-1")).toBe(1);
  expect([...plan.keys()].filter((kind) => kind.startsWith("busy"))).toHaveLength(6);
});

test("RUN-3 the plan never takes more memory than there is, and ends with none", () => {
  const kinds = Array.from({ length: 30 }, (_, index) =>
    demand(`${index % 4}-${index}`, { bytes: 50 + ((index * 37) % 90), idleServers: index % 5 }),
  );
  for (const memoryBytes of [0, 49, 120, 1000, 3000]) {
    const taken = planned(kinds, memoryBytes).reduce(
      (sum, [kind, count]) => sum + count * (kinds.find((each) => each.kind === kind)?.bytes ?? 0),
      0,
    );
    expect(taken).toBeLessThanOrEqual(memoryBytes);
  }
  expect(planned(kinds, 0)).toEqual([]);
  expect(planned([demand("a-1", { idleServers: 100 })], 1e9)).toEqual([["a-1", 8]]);
});

test("RUN-3 interpreters get a share of the memory, and a cluster keeps so many regardless of its own", () => {
  const budget = { memoryBytes: 1000, startReserveBytes: 100 };
  const cluster = { ...budget, memoryBytes: Number.POSITIVE_INFINITY };
  const able = { capabilities: new Set(["prewarm"] as const) };
  expect(prewarmBytes(0.1, budget, able)).toBe(100);
  expect(prewarmBytes(0.1, cluster, { ...able, maxPrewarmed: 3 })).toBe(300);
  expect(prewarmBytes(0.1, budget, { ...able, maxPrewarmed: 3 })).toBe(100);
  expect(prewarmBytes(0, cluster, able)).toBe(0);
  expect(prewarmBytes(0.1, budget, { capabilities: new Set() })).toBe(0);
});
