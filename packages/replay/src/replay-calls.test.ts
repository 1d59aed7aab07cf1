import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { driftOf } from "./numbers.ts";
import { replayCalls } from "./replay-calls.ts";
import type { CallAnswer, JsonObject, JsonValue, ReplayReport, SampledCall } from "./types.ts";

type Server = (values: JsonObject, count: number) => JsonValue | Promise<JsonValue>;

class Failure extends Error {}

/** A server in this process: `answer` gets the arguments and how often it was asked, and throws what it fails with. */
function serverOf(answer: Server, ms: (values: JsonObject) => number = () => 5) {
  let count = 0;
  return async (call: SampledCall): Promise<CallAnswer> => {
    count += 1;
    try {
      const value = await answer(call.arguments, count);
      const content = [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }];
      const result: JsonObject =
        typeof value === "string" ? { content } : { content, structuredContent: { result: value } };
      return { kind: "result", result, isError: false, ms: ms(call.arguments) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const content = [{ type: "text", text: error.message }];
      return { kind: "result", result: { content, isError: true }, isError: true, ms: ms(call.arguments) };
    }
  };
}

const callsOf = (count: number, tool = "tool"): SampledCall[] =>
  Array.from({ length: count }, (_, n) => ({ id: `call-${n}`, tool, arguments: { n } }));

const n = (values: JsonObject) => Number(values.n);

async function replay(production: Server, preview: Server, options: Partial<Parameters<typeof replayCalls>[0]> = {}) {
  const input = { calls: callsOf(8), budget: { calls: 50, seconds: 20 }, signal: new AbortController().signal };
  return await replayCalls({ ...input, production: serverOf(production), preview: serverOf(preview), ...options });
}

const counted = (report: ReplayReport) =>
  report.tools.flatMap(({ differences }) =>
    differences.filter(({ counts }) => counts).map(({ kind, path }) => `${kind} ${path}`.trim()),
  );

const noise = (size: number) => (Math.random() - 0.5) * 2 * size;
const item = (at: number): JsonObject => ({ id: `item-${at}`, price: at * 1.5, remark: at % 2 === 0 ? null : "r" });
const list = (from: number, length = 6) => Array.from({ length }, (_, at) => item(from + at));

const same: readonly (readonly [what: string, production: Server, preview?: Server])[] = [
  ["equal answers", (values) => ({ a: n(values) })],
  ["times and ids", () => ({ at: new Date().toISOString(), id: crypto.randomUUID(), epoch: Date.now() / 1000 })],
  ["numbers that move", (values) => ({ value: Math.round((20 + 3 * n(values) + noise(0.5)) * 100) / 100 })],
  ["numbers of all sizes that move by a share", (values) => 10 ** (n(values) % 4) * (1 + noise(0.01))],
  ["counters that begin elsewhere", (_, count) => ({ count: 9000 + count }), (_, count) => ({ count })],
  ["a list in random order", (values) => list(n(values)).toSorted(() => noise(1))],
  ["other random picks", () => ({ state: ["a", "b", "c"][Math.floor(Math.random() * 3)] ?? "a" })],
  ["temporary folders", () => "/tmp/app-Ab12cd/work-abcdefgh/web: 3", () => "/tmp/app-zZ9x8y/check-k2_e34gh/web: 3"],
  ["a process id in a text", () => "It took 3 s, worker pid 312", () => "It took 3 s, worker pid 55012"],
  ["inodes", (values) => ({ inode: 10_109_738 + n(values) }), (values) => ({ inode: 774 + 3 * n(values) })],
  ["sums in another order", (_, count) => [5280, count % 3], (_, count) => [5280.000000000001, count % 3]],
  ["keys in another order", (values) => ({ a: n(values), b: 2 }), (values) => ({ b: 2, a: n(values) })],
  ["times of the processes' starts", () => ({ up_since: "2026-01-01T10:11:12.5Z" }), () => ({ up_since: started })],
  ["ids that each process makes", () => [{ id: own[0] }], () => [{ id: own[1] }]],
  ["a text with volatile parts", () => `id ${crypto.randomUUID()} took ${Math.random() * 9} ms on 127.0.0.1:${port()}`],
  ["an object whose keys are ids", () => ({ [crypto.randomUUID()]: { x: 1 }, [crypto.randomUUID()]: { x: 1 } })],
  ["numbers of the processes", () => ({ pid: 7, memory_mb: 512 }), () => ({ pid: 19, memory_mb: 300 })],
  ["an error with an address", () => fail(`no item (0x${Math.floor(1e12 + Math.random() * 1e12).toString(16)})`)],
];

const started = new Date(Date.now() - 1500)
  .toISOString()
  .replace("Z", "5Z")
  .replace(/\d{3}5Z/, "1Z");
const own = [crypto.randomUUID(), crypto.randomUUID()] as const;
const port = () => 20_000 + Math.floor(Math.random() * 9999);
const fail = (text: string): never => {
  throw new Failure(text);
};

const unchanged = same.map(([what, production, preview = production]) => [what, production, preview] as const);

test.each(unchanged)("CAP-4 %s are no difference", async (_, production, preview) => {
  const report = await replay(production, preview);
  expect(counted(report)).toEqual([]);
  expect(report).toMatchObject({
    verdict: "same",
    notCompared: [],
    tools: [{ tool: "tool", replayed: 8, different: 0 }],
  });
});

const moving = (values: JsonObject) => 10 + 2 * n(values) + noise(0.4);
const round = (value: number, decimals: number) => Math.round(value * 10 ** decimals) / 10 ** decimals;

/** Of parts in a message: it may begin with a digit. */
const boundary = () => crypto.randomUUID().replaceAll("-", "").slice(0, 20);

const different: readonly (readonly [what: string, expected: string, production: Server, preview: Server])[] = [
  ["a lost field", "lost b.c", (v) => ({ a: n(v), b: { c: 1, d: 2 } }), (v) => ({ a: n(v), b: { d: 2 } })],
  ["a lost field of items", "lost [].price", () => list(1), () => list(1).map(({ price: _, ...rest }) => rest)],
  ["a file in a temporary folder", "value", () => "/tmp/x/one.csv", () => "/tmp/x/two.csv"],
  ["another type", "type a", () => ({ a: 12 }), () => ({ a: "12" })],
  [
    "an id where production has none",
    "value id",
    (v) => ({ id: n(v) % 2 ? boundary() : null }),
    () => ({ id: boundary() }),
  ],
  [
    "a part of a text with ids",
    "value",
    (v) => (n(v) % 2 ? `x --${boundary()} y --${boundary()}--` : `x --${boundary()}--`),
    () => `x --${boundary()}--`,
  ],
  ["a value", "value a", (v) => ({ a: n(v) }), (v) => ({ a: n(v) === 3 ? 99 : n(v) })],
  ["how long a film is", "value duration", (v) => ({ duration: 90 + n(v) }), (v) => ({ duration: 60 * (90 + n(v)) })],
  ["°F of a number that moves", "value t", (v) => ({ t: moving(v) }), (v) => ({ t: moving(v) * 1.8 + 32 })],
  ["miles of a number that moves", "value t", (v) => ({ t: moving(v) }), (v) => ({ t: moving(v) * 0.621 })],
  [
    "°F within a text",
    "value",
    (v) => `It is ${round(moving(v), 1)} °C`,
    (v) => `It is ${round(moving(v) * 1.8 + 32, 1)} °C`,
  ],
  ["fewer decimals", "value t", (v) => ({ t: round(moving(v), 2) }), (v) => ({ t: round(moving(v), 0) })],
  ["paging off by one", "value [].id", (v) => list(n(v)), (v) => list(n(v) + 1)],
  ["a shorter list", "value", () => list(1), () => list(1, 5)],
  ["another order of a list", "value", () => list(1), () => list(1).reverse()],
  [
    "another form of a time",
    "value at",
    () => ({ at: new Date().toISOString() }),
    () => ({ at: new Date().toUTCString() }),
  ],
  ["a time in milliseconds", "value at", () => ({ at: Date.now() / 1000 }), () => ({ at: Date.now() })],
  ["a new word among random ones", "value state", () => ({ state: pick("a", "b") }), () => ({ state: pick("A", "B") })],
  ["the text of an error", "error error", () => fail("no such city"), () => fail("not found")],
  ["an error instead of a result", "error", () => "fine", () => fail("boom")],
  ["a result instead of an error", "error", () => fail("boom"), () => "fine"],
  ["no answer", "no-answer", () => "fine", () => Promise.reject(new Error("connection closed"))],
];
const pick = (...words: string[]) => words[Math.floor(Math.random() * words.length)] ?? "";

test.each(different)("CAP-4 %s is a difference", async (_, expected, production, preview) => {
  const report = await replay(production, preview);
  expect(counted(report)).toContain(expected);
  expect(report.verdict).toBe("different");
  expect(report.tools[0]?.examples[0]?.differences).not.toEqual([]);
});

test("CAP-4 a new field is shown and does not count", async () => {
  const report = await replay(
    () => ({ a: 1 }),
    () => ({ a: 1, b: 2 }),
  );
  expect(report.verdict).toBe("same");
  expect(report.tools[0]?.differences).toMatchObject([{ kind: "added", path: "b", is: "2", calls: 8, counts: false }]);
});

test("CAP-4 what the preview shows once, and production too now and then, is not blamed on the change", async () => {
  const once = await replay(
    () => "fine",
    (values, count) => (count === 4 ? fail(`lost a connection for ${n(values)}`) : "fine"),
  );
  expect(once.verdict).toBe("same");
  const flaky: Server = (_, count) => (count % 3 === 0 ? fail("busy") : "fine");
  expect((await replay(flaky, flaky, { calls: callsOf(20) })).verdict).toBe("same");
  const silent = await replay(
    () => Promise.reject(new Error("down")),
    () => "fine",
  );
  expect(silent).toMatchObject({ verdict: "inconclusive", notCompared: [{ tool: "tool", calls: 8, reason: "flaky" }] });
});

test("CAP-4 what could not be asked again is named as not compared, and a difference is found behind many that were chance", async () => {
  const times = new Map<number, number>();
  const timeOf = (values: JsonObject) => {
    times.set(n(values), (times.get(n(values)) ?? 0) + 1);
    return times.get(n(values)) ?? 0;
  };
  const late = await replay(
    () => ({ a: 1, b: 1 }),
    async (values) => {
      if (n(values) === 1) return { a: 1, b: 2 };
      // The first call is asked once more before all others, and then takes what is left of the time.
      if (n(values) !== 0 || timeOf(values) > 3) return { a: 1, b: 1 };
      if (times.get(0) === 3) await sleep(1750);
      return { a: times.get(0) === 3 ? 1 : 2, b: 1 };
    },
    { budget: { calls: 50, seconds: 2 }, concurrency: 1 },
  );
  expect(late).toMatchObject({
    tools: [{ replayed: 7, different: 0 }],
    notCompared: [{ tool: "tool", calls: 1, reason: "seconds" }],
  });

  times.clear();
  const answers = { real: 1, ...Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`k${at}x`, 1])) };
  const behind = await replay(
    () => answers,
    (values) => {
      if (n(values) === 14) return { ...answers, real: 2 };
      const isFirst = timeOf(values) <= (n(values) === 0 ? 2 : 1);
      return isFirst ? { ...answers, [`k${n(values)}x`]: 2 } : answers;
    },
    { calls: callsOf(15) },
  );
  expect(counted(behind)).toEqual(["value real"]);
});

test.runIf(isThorough)(
  "CAP-4 very many numbers that move, and answers nested deeply, are compared like others",
  async () => {
    // Of 25,000 items without a partner, each beside thirty of production's.
    const production = Array.from({ length: 30 }, () => 5 + noise(1));
    const pair = { record: 0, answer: 0, order: 0, production, preview: 5 };
    const pairs = Array.from({ length: 25_000 }, (_, record) => ({ ...pair, record }));
    expect(driftOf({ pairs, isTime: false, name: "price" })?.what).toBe("with fewer decimals");

    const nested = "[".repeat(200_000) + "]".repeat(200_000);
    const text = await replay(
      () => nested,
      (values) => (n(values) === 1 ? `${nested} ` : nested),
    );
    expect(text).toMatchObject({ verdict: "different", tools: [{ replayed: 8, different: 1 }] });
    const result = { content: [], structuredContent: { deep: JSON.parse(nested) } };
    const structured = await replay(
      () => 1,
      () => 1,
      {
        preview: async () => ({ kind: "result", result, isError: false, ms: 1 }),
      },
    );
    expect(counted(structured)).toEqual(["no-answer"]);
  },
);

test("CAP-4 slower: clear and in fresh pairs, not for a first call or a little", async () => {
  const timed = (ms: (count: number) => number) => {
    let count = 0;
    return serverOf(
      () => "fine",
      () => {
        count += 1;
        return ms(count);
      },
    );
  };
  const production = timed(() => 20);
  const run = async (ms: (count: number) => number, calls = 6) =>
    counted(
      await replay(
        () => 1,
        () => 1,
        { calls: callsOf(calls), production, preview: timed(ms) },
      ),
    );
  expect(await run(() => 120)).toEqual(["slower"]);
  expect(await run(() => 120, 1)).toEqual(["slower"]);
  expect(await run(() => 60)).toEqual([]);
  expect(await run((count) => (count < 4 ? 900 : 20))).toEqual([]);
  expect(await run((count) => (count % 2 === 0 ? 900 : 20))).toEqual([]);
});

test("CAP-4 budgets of calls and seconds hold, and an abort ends it at once", async () => {
  const few = await replay(
    () => 1,
    () => 1,
    { budget: { calls: 3, seconds: 20 } },
  );
  expect(few).toMatchObject({ verdict: "same", requests: 11, notCompared: [{ calls: 5, reason: "calls" }] });

  const slow = (): Promise<JsonValue> => sleep(60, 1);
  const begun = performance.now();
  const short = await replay(slow, slow, { calls: callsOf(40), budget: { calls: 50, seconds: 0.6 }, concurrency: 1 });
  expect(performance.now() - begun).toBeLessThan(2500);
  expect(short).toMatchObject({ verdict: "inconclusive", notCompared: [{ reason: "seconds" }] });

  const controller = new AbortController();
  const hangs = () => new Promise<never>(() => {});
  const ended = replay(() => 1, hangs, { signal: controller.signal, budget: { calls: 50, seconds: 600 } });
  await sleep(20);
  // From here on nothing that waits for time goes on.
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  controller.abort();
  expect(await ended).toMatchObject({ verdict: "inconclusive", notCompared: [{ calls: 8, reason: "ended" }] });
});

test("CAP-4 at most the given number of calls is under way", async () => {
  let [now, most] = [0, 0];
  const server: Server = async () => {
    now += 1;
    most = Math.max(most, now);
    await sleep(2);
    now -= 1;
    return 1;
  };
  await replay(server, server, { calls: callsOf(20), concurrency: 2 });
  expect(most).toBe(2);
});

test.runIf(isThorough)(
  "CAP-4 answers of MiBs: the report stays below 200 KB and a change in their middle is found",
  async () => {
    const big = (mark: number) =>
      Array.from({ length: 3000 }, (_, at) => ({ id: at, text: at === 2000 ? `${mark}` : "x".repeat(300) }));
    const calls = callsOf(4);
    const report = await replay(
      () => big(1),
      () => big(2),
      { calls, budget: { calls: 50, seconds: 300 } },
    );
    expect(report.verdict).toBe("different");
    expect(report.tools.map(({ different }) => different)).toEqual([4]);

    const wide = (mark: number) =>
      Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [`k${at}${"k".repeat(100)}`, `${mark}${"ü".repeat(700)}`]),
      );
    const tools = Array.from({ length: 30 }, (_, at) => callsOf(1, `tool-${at}`)).flat();
    const many = await replay(
      () => wide(1),
      () => wide(2),
      { calls: tools, budget: { calls: 30, seconds: 300 } },
    );
    expect(many.verdict).toBe("different");
    expect(Buffer.byteLength(JSON.stringify(many))).toBeLessThan(200_000);
  },
);
