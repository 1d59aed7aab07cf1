import { expect, test } from "vitest";
import type { CallResult, ServerCall } from "../server-call.ts";
import { type CallRecord, ended, newRecord } from "./call-record.ts";
import { keepCalls, readCalls } from "./kept-calls.ts";

const place = { userId: "u1", projectId: "p1" };
const now = 1_700_000_000_000;

function browserStore() {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
    key: (index: number) => [...items.keys()][index] ?? null,
    get length() {
      return items.size;
    },
  };
}

const answer = (text: string): CallResult => ({
  ok: true,
  durationMs: 1,
  connectMs: 0,
  protocolVersion: "2026-07-28",
  result: { content: [{ type: "text", text }] },
});

function recordOf(
  id: string,
  args: Record<string, unknown>,
  outcome: CallResult | null,
  time = now - 1000,
): CallRecord {
  const call: ServerCall = { kind: "tool", name: "login", arguments: args };
  const record = newRecord({ id, time, item: "tools:login", call, hidden: [] });
  return outcome ? ended(record, outcome) : record;
}

const noSchema = () => undefined;

test("PRJ-4 calls that have ended are there after a reload, newest first, with arguments and result", () => {
  const store = browserStore();
  const records = [recordOf("b", { city: "Oslo" }, answer("fine")), recordOf("a", {}, null)];
  keepCalls(store, place, records, noSchema);
  expect(readCalls(store, place, now)).toEqual([records[0]]);
  expect(readCalls(store, { ...place, projectId: "p2" }, now)).toEqual([]);
  keepCalls(store, place, [], noSchema);
  expect(store.items.size).toBe(0);
});

test("PRJ-4 a secret is kept neither as an argument nor in a result that shows it", () => {
  const store = browserStore();
  const args = { user: "ada", password: 'hunter2"x', code: "4711-abc" };
  const schema = { properties: { code: { format: "password" } } };
  keepCalls(
    store,
    place,
    [recordOf("a", args, answer('you sent hunter2"x')), recordOf("b", args, answer("hi ada"))],
    () => schema,
  );
  const text = [...store.items.values()].join();
  expect(text).not.toMatch(/hunter2|4711-abc/);
  const [a, b] = readCalls(store, place, now);
  expect(a).toMatchObject({ isResultDropped: true, hidden: ["password", "code"], outcome: { ok: true, result: {} } });
  expect(b).toMatchObject({ isResultDropped: false, call: { arguments: { user: "ada" } }, outcome: answer("hi ada") });
  // Written again after the reload, when the secrets are gone already.
  keepCalls(store, place, [a as CallRecord], () => schema);
  expect(readCalls(store, place, now)[0]?.hidden).toEqual(["password", "code"]);
});

test("PRJ-4 the history is bounded: 50 calls, large results, all together, 30 days", () => {
  const store = browserStore();
  keepCalls(
    store,
    place,
    Array.from({ length: 60 }, (_, at) => recordOf(`r${at}`, {}, answer("x"))),
    noSchema,
  );
  expect(readCalls(store, place, now)).toHaveLength(50);
  keepCalls(store, place, [recordOf("large", {}, answer("x".repeat(40_000)))], noSchema);
  expect(readCalls(store, place, now)).toMatchObject([{ isResultDropped: true }]);
  keepCalls(
    store,
    place,
    Array.from({ length: 40 }, (_, at) => recordOf(`r${at}`, {}, answer("x".repeat(30_000)))),
    noSchema,
  );
  const kept = readCalls(store, place, now).length;
  expect(kept).toBeGreaterThan(10);
  expect(kept).toBeLessThan(20);
  keepCalls(store, place, [recordOf("old", {}, answer("x"), now - 31 * 86_400_000)], noSchema);
  expect(readCalls(store, place, now)).toEqual([]);
});

test("PRJ-4 another person's calls in the same browser are dropped, and broken ones count as none", () => {
  const store = browserStore();
  keepCalls(store, place, [recordOf("a", {}, answer("x"))], noSchema);
  expect(readCalls(store, { ...place, userId: "u2" }, now)).toEqual([]);
  expect(store.items.size).toBe(0);
  store.setItem("towpath:inspector:u1:p1", '[{"id": 1}]');
  expect(readCalls(store, place, now)).toEqual([]);
  const refusing = {
    ...browserStore(),
    setItem: () => {
      throw new Error("full");
    },
  };
  expect(() => keepCalls(refusing, place, [recordOf("a", {}, answer("x"))], noSchema)).not.toThrow();
});
