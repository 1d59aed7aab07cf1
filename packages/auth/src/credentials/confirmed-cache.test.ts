import { expect, onTestFinished, test, vi } from "vitest";
import { ConfirmedCache } from "./confirmed-cache.ts";

const outageMs = 3_600_000;
const never = () => new Promise<never>(() => {});

/** A database with the ids `a` and `b`, and a clock. */
function setUp(options: { outageMs?: number; deniedMs?: number } = {}) {
  const world = {
    now: 1_000_000,
    valid: new Set(["a", "b"]),
    /** Behavior of queries. */
    database: "answers" as "answers" | "unavailable" | "hangs",
    queries: 0,
    /** The most queries that ran at the same time, and those that run. */
    maxRunning: 0,
    running: 0,
  };
  /** `startedAt`: when the process of the cache has started, by the clock of the world. */
  const create = (startedAt = 0) =>
    new ConfirmedCache<string>({
      cacheMs: 5000,
      outageMs: options.outageMs ?? outageMs,
      deniedMs: options.deniedMs ?? 0,
      now: () => world.now - startedAt,
      async read(ids) {
        world.queries++;
        if (world.database === "hangs") await never();
        if (world.database === "unavailable") throw new Error("ECONNREFUSED");
        world.maxRunning = Math.max(world.maxRunning, ++world.running);
        await new Promise((resolve) => setImmediate(resolve));
        world.running--;
        return new Map(ids.filter((id) => world.valid.has(id)).map((id) => [id, { value: `value of ${id}` }]));
      },
    });
  return { world, create, cache: create() };
}
/** The result of `find`: a value, null, or "refused". */
const outcome = async (cache: ConfirmedCache<string>, id: string) => {
  try {
    return await cache.find(id);
  } catch {
    return "refused";
  }
};
/** Everything that was asked is answered: a query takes a turn of the event loop, and few follow each other. */
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("GW-10 a process that hears of a change later than another takes, in an outage, what that one has confirmed", async () => {
  const { world, cache, create } = setUp();
  const late = create();
  await cache.find("a");
  world.now += 10;
  cache.changed();
  await expect.poll(() => world.queries).toBe(2);
  await settled();
  world.now += 10;
  late.changed();
  world.now += 10;
  await expect.poll(() => world.queries).toBe(3);
  await settled();
  world.database = "unavailable";
  late.restore(cache.save());
  expect(await outcome(late, "a")).toBe("value of a");
});

test("GW-10 without the database, known credentials count for as long as the setting allows, and no others do", async () => {
  const { world, cache } = setUp();
  expect(await cache.find("a")).toBe("value of a");
  expect(await cache.find("stranger")).toBeNull();
  world.database = "unavailable";
  for (const later of [6000, 60_000, outageMs - 67_000]) {
    world.now += later;
    expect(await outcome(cache, "a")).toBe("value of a");
    // Never seen, or denied.
    expect(await outcome(cache, "b")).toBe("refused");
    expect(await outcome(cache, "stranger")).toBe("refused");
  }
  world.now += 2000;
  expect(await outcome(cache, "a")).toBe("refused");
  world.database = "answers";
  world.now += 2000;
  expect(await outcome(cache, "a")).toBe("value of a");
});

test("GW-10 without a time for outages, nothing counts beyond the cache time", async () => {
  const { world, cache } = setUp({ outageMs: 0 });
  expect(await cache.find("a")).toBe("value of a");
  world.database = "unavailable";
  expect(await outcome(cache, "a")).toBe("value of a");
  world.now += 6000;
  expect(await outcome(cache, "a")).toBe("refused");
  expect(cache.save()).toEqual([]);
});

test("GW-10 a database that hangs delays a known credential once, and then nobody", async () => {
  const { world, cache } = setUp();
  await Promise.all([cache.find("a"), cache.find("b")]);
  world.database = "hangs";
  world.now += 6000;
  const begun = performance.now();
  expect(await cache.find("a")).toBe("value of a");
  expect(performance.now() - begun).toBeGreaterThan(300);
  world.now += 1;
  // At once, without a promise even.
  expect(cache.find("a")).toBe("value of a");
  expect(cache.find("b")).toBe("value of b");
  await expect(cache.find("stranger")).rejects.toThrow("unavailable");
  const asked = world.queries;
  world.now += 1500;
  // Asked again, but not waited for.
  expect(cache.find("b")).toBe("value of b");
  expect(world.queries).toBe(asked + 1);
});

test("GW-4 GW-10 what was revoked during an outage is refused once the database is back, used or not", async () => {
  const { world, cache } = setUp();
  await Promise.all([cache.find("a"), cache.find("b")]);
  world.database = "unavailable";
  world.now += 6000;
  expect([await outcome(cache, "a"), await outcome(cache, "b")]).toEqual(["value of a", "value of b"]);
  world.valid.clear();
  world.database = "answers";
  world.now += 1500;
  // The first call finds the database back, whoever makes it; it is still served by what was known.
  await cache.find("a");
  await settled();
  world.database = "unavailable";
  expect([await outcome(cache, "a"), await outcome(cache, "b")]).toEqual(["refused", "refused"]);
  world.database = "answers";
  world.now += 1500;
  expect([await outcome(cache, "a"), await outcome(cache, "b")]).toEqual([null, null]);
});

test("GW-4 after a reconnect every credential is confirmed again before it is accepted", async () => {
  const { world, cache } = setUp();
  await Promise.all([cache.find("a"), cache.find("b")]);
  world.valid.delete("a");
  cache.connected();
  expect([await cache.find("a"), await cache.find("b")]).toEqual([null, "value of b"]);
});

test("GW-4 after a notified change no credential counts until it is confirmed again, even without the database", async () => {
  const { world, cache } = setUp();
  await Promise.all([cache.find("a"), cache.find("b")]);
  const saved = cache.save();
  world.database = "unavailable";
  world.now += 10;
  cache.changed();
  expect(cache.save()).toEqual([]);
  cache.restore(saved);
  await settled();
  expect([await outcome(cache, "a"), await outcome(cache, "b")]).toEqual(["refused", "refused"]);
  world.database = "answers";
  world.valid.delete("a");
  world.now += 1500;
  expect([await outcome(cache, "a"), await outcome(cache, "b")]).toEqual([null, "value of b"]);
});

test("GW-10 the time for an outage counts from the last refresh, of what was used within a day", async () => {
  const { world, cache } = setUp();
  await Promise.all([cache.find("a"), cache.find("b")]);
  for (let hour = 0; hour < 30; hour++) {
    world.now += 3_600_000;
    if (hour === 20) await cache.find("a");
    await cache.refresh();
  }
  world.database = "unavailable";
  world.now += outageMs - 1;
  expect([await outcome(cache, "a"), await outcome(cache, "b")]).toEqual(["value of a", "refused"]);
});

test("GW-10 without the database, what another process saved counts, unless it was denied since or is too old", async () => {
  const { world, create, cache } = setUp();
  const wallClock = vi.spyOn(Date, "now").mockImplementation(() => 1e12 + world.now);
  onTestFinished(() => wallClock.mockRestore());
  await Promise.all([cache.find("a"), cache.find("b")]);
  const saved = JSON.parse(JSON.stringify(cache.save()));
  expect(saved).toHaveLength(2);

  const other = create(world.now + 5);
  other.onUnknown = async () => other.restore(saved);
  world.valid.delete("b");
  world.now += 10;
  expect(await other.find("b")).toBeNull();
  world.database = "unavailable";
  world.now += 2000;
  expect([await outcome(other, "a"), await outcome(other, "b")]).toEqual(["value of a", "refused"]);
  // With the database it is not believed.
  const third = create();
  third.restore(saved);
  world.database = "answers";
  expect(await third.find("b")).toBeNull();

  const late = create();
  world.now += outageMs;
  late.restore(saved);
  // A clock that was ahead wrote these.
  late.restore(saved.map((entry: { confirmedAt: number }) => ({ ...entry, confirmedAt: Date.now() + 60_000 })));
  world.database = "unavailable";
  expect(await outcome(late, "a")).toBe("refused");
});

test("GW-4 credentials that strangers make up are asked for together: one query at a time, however many there are", async () => {
  const { world, cache } = setUp();
  const flood = Array.from({ length: 2500 }, (_, at) => cache.find(`made up ${at}`));
  // A known credential is answered together with it.
  const [known, also] = [cache.find("a"), cache.find("a")];
  expect(await Promise.all([known, also])).toEqual(["value of a", "value of a"]);
  expect(new Set(await Promise.all(flood))).toEqual(new Set([null]));
  expect([world.queries, world.maxRunning]).toEqual([4, 1]);
  // A failing query fails for all of its ids, and for no others.
  world.now += 6000;
  world.database = "unavailable";
  expect(await Promise.all(["a", "x", "y"].map((id) => outcome(cache, id)))).toEqual([
    "value of a",
    "refused",
    "refused",
  ]);
  world.database = "answers";
  world.now += 1500;
  await cache.find("a");
  await settled();
  expect(await Promise.all(["a", "x", "b"].map((id) => outcome(cache, id)))).toEqual([
    "value of a",
    null,
    "value of b",
  ]);
});

test("GW-4 a denial is taken for as long as it may be, and not after a change", async () => {
  const { world, cache } = setUp({ deniedMs: 5000 });
  expect(await cache.find("c")).toBeNull();
  world.valid.add("c");
  world.now += 4000;
  expect([cache.find("c"), world.queries]).toEqual([null, 1]);
  world.now += 1000;
  expect(await cache.find("c")).toBe("value of c");

  expect(await cache.find("d")).toBeNull();
  world.valid.add("d");
  cache.changed();
  expect(await cache.find("d")).toBe("value of d");
  world.valid.delete("d");
  world.now += 10;
  cache.changed();
  expect(await cache.find("d")).toBeNull();
  world.valid.add("d");
  world.now += 10;
  cache.connected();
  expect(await cache.find("d")).toBe("value of d");
});
