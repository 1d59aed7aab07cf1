import { setImmediate as turn } from "node:timers/promises";
import type { Redactor } from "@towpath/secrets/redaction";
import pino from "pino";
import { afterEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { Redactors } from "./redactors.ts";

const log = pino({ level: "silent" });
let made: Redactors[] = [];
afterEach(() => {
  for (const redactors of made) redactors.stop();
  made = [];
});

type Values = Readonly<Record<string, string>>;

/** A clock that the test controls. */
function createClock() {
  const sleeping = new Set<{ until: number; wake: () => void }>();
  const clock = {
    now: 0,
    sleep: (ms: number) => new Promise<void>((wake) => void sleeping.add({ until: clock.now + ms, wake })),
    /** Sets the time, after everything that waits for nothing else has gone on. */
    async passTo(now: number) {
      await turn();
      clock.now = now;
      for (const sleeper of sleeping) if (sleeper.until <= now && sleeping.delete(sleeper)) sleeper.wake();
      await turn();
    },
  };
  return clock;
}

function createRedactors(read: (id: string) => Promise<Values | null>, routed: string[] = []) {
  const clock = createClock();
  const asked: string[] = [];
  const processor = { ms: 0, ofEach: 0 };
  const redactors = new Redactors({
    read(id) {
      asked.push(id);
      return read(id);
    },
    routed: () => new Set(routed),
    share: 1,
    log,
    now: () => clock.now,
    // Looked at before and after a load.
    processorMs: () => (processor.ms += processor.ofEach),
    sleep: clock.sleep,
  });
  made.push(redactors);
  return { redactors, clock, asked, processor };
}

const values = async (id: string): Promise<Values> => ({ TOKEN: `value of ${id}` });

test("KEY-4 values are asked for once by the first of many requests, and the others wait with it", async () => {
  const { redactors, asked } = createRedactors(values);
  expect(redactors.find("a")).toBeNull();
  const found = await Promise.all([redactors.wait("a"), redactors.wait("a"), redactors.wait("b")]);
  expect(found.map((redactor) => redactor?.text("value of a, value of b"))).toEqual([
    "[TOKEN], value of b",
    "[TOKEN], value of b",
    "value of a, [TOKEN]",
  ]);
  expect(redactors.find("a")).toBe(found[0]);
  expect(asked).toEqual(["a", "b"]);
  expect(redactors.find(null)?.text("of an external server")).toBe("of an external server");
});

/** A database that answers when the test says so, and the result of a wait. */
function createSlowDatabase() {
  const answers = new Map<string, PromiseWithResolvers<Values | null>>();
  const read = (id: string) => {
    const answer = Promise.withResolvers<Values | null>();
    answers.set(id, answer);
    return answer.promise;
  };
  return { ...createRedactors(read), answers };
}

function watch(waiting: Promise<Redactor | null>): { state: string } {
  const seen = { state: "waits" };
  void waiting.then((redactor) => (seen.state = redactor?.text("abcdefgh") ?? "withheld"));
  return seen;
}

test("KEY-4 the answer of a slow database is waited for, and no text is withheld", async () => {
  const { redactors, clock, answers } = createSlowDatabase();
  const first = watch(redactors.wait("a"));
  const behind = watch(redactors.wait("b"));
  await clock.passTo(4999);
  expect([first.state, behind.state]).toEqual(["waits", "waits"]);
  answers.get("a")?.resolve({ TOKEN: "abcdefgh" });
  await expect.poll(() => answers.has("b")).toBe(true);
  answers.get("b")?.resolve({ OTHER: "abcdefgh" });
  await expect.poll(() => [first.state, behind.state]).toEqual(["[TOKEN]", "[OTHER]"]);
});

test("KEY-4 a database that hangs keeps the requests to one deployment waiting, and those to others only shortly", async () => {
  const { redactors, clock, answers } = createSlowDatabase();
  const first = watch(redactors.wait("a"));
  await clock.passTo(5000);
  expect(first.state).toBe("withheld");
  // Neither later requests to it wait, nor those to others for long.
  const [later, other] = [watch(redactors.wait("a")), watch(redactors.wait("b"))];
  await clock.passTo(5249);
  expect([later.state, other.state]).toEqual(["withheld", "waits"]);
  await clock.passTo(5250);
  expect(other.state).toBe("withheld");
  // Once it has answered, it is waited for again.
  answers.get("a")?.resolve({ TOKEN: "abcdefgh" });
  await expect.poll(() => answers.has("b")).toBe(true);
  answers.get("b")?.resolve({});
  const recovered = watch(redactors.wait("c"));
  await expect.poll(() => answers.has("c")).toBe(true);
  await clock.passTo(8000);
  expect(recovered.state).toBe("waits");
  answers.get("c")?.resolve({ TOKEN: "abcdefgh" });
  await expect.poll(() => recovered.state).toBe("[TOKEN]");
});

test("KEY-4 after a load that took processor time the next one pauses, and its requests wait for two seconds", async () => {
  const { redactors, clock, asked, processor } = createRedactors(async () => ({ TOKEN: "abcdefgh" }));
  processor.ofEach = 300;
  expect(await redactors.wait("a")).not.toBeNull();
  processor.ofEach = 600;
  const second = watch(redactors.wait("b"));
  await clock.passTo(251);
  expect([second.state, asked]).toEqual(["waits", ["a"]]);
  // Then the load was a fifth of the time.
  await clock.passTo(1199);
  expect([second.state, asked]).toEqual(["waits", ["a"]]);
  await clock.passTo(1200);
  await expect.poll(() => second.state).toBe("[TOKEN]");
  const third = watch(redactors.wait("c"));
  await clock.passTo(3199);
  expect(third.state).toBe("waits");
  await clock.passTo(3200);
  expect([third.state, asked]).toEqual(["withheld", ["a", "b"]]);
});

test("KEY-4 after a failure values are asked for again, but not by every request", async () => {
  let fails = true;
  const { redactors, clock, asked } = createRedactors(async (id) => {
    if (fails) throw new Error("unavailable");
    return values(id);
  });
  expect(await redactors.wait("a")).toBeNull();
  fails = false;
  await clock.passTo(1999);
  expect(await redactors.wait("a")).toBeNull();
  expect(asked).toHaveLength(1);
  await clock.passTo(2000);
  expect(redactors.find("a")).toBeNull();
  await expect.poll(() => redactors.find("a")).not.toBeNull();
  expect(asked).toHaveLength(2);
});

test("KEY-4 values are forgotten after an hour, and soon when no label leads to their deployment", async () => {
  const { redactors, clock, asked } = createRedactors(values, ["routed", "idle"]);
  for (const id of ["routed", "idle", "gone"]) expect(await redactors.wait(id)).not.toBeNull();
  clock.now = 59_000;
  redactors.sweep();
  expect(redactors.find("gone")).not.toBeNull();
  clock.now = 120_000;
  redactors.sweep();
  expect(redactors.find("gone")).toBeNull();
  clock.now = 3_599_000;
  expect(redactors.find("routed")).not.toBeNull();
  clock.now = 3_600_000;
  redactors.sweep();
  expect(redactors.find("routed")).not.toBeNull();
  expect(redactors.find("idle")).toBeNull();
  await expect.poll(() => asked).toEqual(["routed", "idle", "gone", "gone", "idle"]);
});

test.runIf(isThorough)(
  "KEY-4 the memory of values is bounded: the longest unused are dropped, and too large ones are never loaded",
  async () => {
    // In letters and digits only, so that most of its encodings equal the value itself.
    const large = (id: string) => `${id}${"0123456789abcdef".repeat(3000)}`;
    const { redactors, clock, asked } = createRedactors(async (id) =>
      id === "huge"
        ? Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`V${at}`, large(`${at}x`)]))
        : { A: large(id) },
    );
    expect(await redactors.wait("huge")).toBeNull();
    clock.now = 10_000;
    expect(await redactors.wait("huge")).toBeNull();
    const ids = Array.from({ length: 12 }, (_, at) => `deployment-${at}`);
    for (const id of ids) {
      clock.now += 1;
      await expect.poll(() => redactors.find(id), { timeout: 20_000 }).not.toBeNull();
    }
    // None of them is read again while it is known.
    expect(asked).toEqual(["huge", ...ids]);
    expect(redactors.find(ids[11] ?? "")).not.toBeNull();
    expect(redactors.find(ids[0] ?? "")).toBeNull();
  },
);
