import { setImmediate as turn } from "node:timers/promises";
import type { Exit, InstanceHandle, InstanceSpec, Prewarmed, PrewarmSpec, StartResult } from "@towpath/runtime";
import { tinyServer } from "@towpath/runtime/testing";
import { afterEach, expect, test } from "vitest";
import { PrewarmPool, type PrewarmPoolParts } from "./prewarm-pool.ts";

const mebibyte = 1024 * 1024;
const pools: PrewarmPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

type Answer = "used" | "environment" | "memory" | "exited" | "throws";

/** A pool on a driver without processes. Each interpreter has 50 MiB. */
function poolOf(change: Partial<PrewarmPoolParts> = {}) {
  const state = {
    answer: "used" as Answer,
    free: 10_000 * mebibyte,
    ordinary: 0,
    claims: [] as string[],
    prewarm: "ok" as "ok" | "unsuitable" | "throws",
    busy: false,
    forks: false,
    prewarmed: 0,
  };
  const waiting = new Map<PrewarmSpec, () => void>();
  const running: (() => void)[] = [];
  const started = (spec: InstanceSpec, prewarm?: "used" | "environment"): StartResult => {
    const { promise: exited, resolve } = Promise.withResolvers<Exit>();
    running.push(() => resolve({ reason: "stopped", code: 0, signal: null }));
    const handle = { instanceId: spec.instanceId, exited } as InstanceHandle;
    return { ok: true, startMs: 1, handle, ...(prewarm === undefined ? {} : { prewarm }) };
  };
  const interpreter = (spec: PrewarmSpec): Prewarmed => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const gone = () => {
      waiting.delete(spec);
      resolve();
    };
    waiting.set(spec, gone);
    return {
      ended,
      memoryBytes: async () => 50 * mebibyte,
      end: async () => gone(),
      async claim(organizationId, instance) {
        state.claims.push(`${organizationId} from ${spec.organizationId}`);
        waiting.delete(spec);
        if (state.answer === "throws") throw new Error("the layer is gone");
        if (state.answer === "memory") return { obstacle: "memory" };
        if (state.answer === "exited") return { ok: false, cause: "exited", status: null, exit: null };
        return started(instance, state.answer);
      },
    };
  };
  const problems: unknown[] = [];
  const pool = new PrewarmPool({
    driver: {
      async start(spec) {
        state.ordinary += 1;
        return started(spec);
      },
      async prewarm(spec) {
        if (spec.onlyForked === true && !state.forks) return { ok: false, reason: "no forks", isFinal: false };
        state.prewarmed += 1;
        if (state.prewarm === "throws") throw new Error("no network");
        if (state.prewarm === "unsuitable") return { ok: false, reason: "no framework", isFinal: true };
        return { ok: true, prewarmed: interpreter(spec) };
      },
    },
    maxBytes: 500 * mebibyte,
    keepMs: 3_600_000,
    freeBytes: () => state.free,
    isBusy: () => state.busy,
    assumedBytes: 50 * mebibyte,
    startTimeoutMs: 1000,
    existing: async (ids) => new Set(ids),
    onError: (error) => problems.push(error),
    ...change,
  });
  pools.push(pool);
  let count = 0;
  const start = (
    organizationId: string,
    label = `server-${organizationId}`,
    dependencies = "d".repeat(64),
    callerId: string | null = null,
  ) => {
    count += 1;
    const server = tinyServer.server("serve");
    const layers = { ...server.layers, dependencies };
    const spec = { instanceId: `i-${count}`, server: { ...server, layers }, startTimeoutMs: 1000 };
    return pool.start({ organizationId, label, deploymentId: `of-${label}`, callerId }, spec, () => {});
  };
  const stopAll = () => {
    for (const stop of running.splice(0)) stop();
  };
  return { pool, state, waiting, start, stopAll, problems };
}

test("RUN-3 the first start of a server is an ordinary one; the next finds an interpreter that waits", async () => {
  const { pool, state, start, stopAll } = poolOf();
  await start("a");
  expect(pool.report()).toMatchObject({ hits: 0, misses: { none_ready: 1 } });
  await expect.poll(() => pool.report().ready).toBe(1);
  stopAll();
  await start("a");
  expect(state.ordinary).toBe(1);
  expect(pool.report()).toMatchObject({ hits: 1, misses: { none_ready: 1 } });
  // It is replaced.
  await expect.poll(() => pool.report()).toMatchObject({ ready: 1, memoryBytes: 50 * mebibyte });
});

test("CAP-1 RUN-3 a burst of more starts than interpreters wait has them forked, where the driver can", async () => {
  const { pool, state, start } = poolOf();
  state.forks = true;
  await Promise.all(Array.from({ length: 20 }, (_, at) => start("a", "own", undefined, `person-${at}`)));
  expect(pool.report()).toMatchObject({ hits: 20, misses: {} });
  expect(state.ordinary).toBe(0);
});

test("RUN-1 two organizations never share an interpreter, not even with the same dependency layer", async () => {
  const { pool, state, start } = poolOf();
  await start("a");
  await expect.poll(() => pool.report().ready).toBe(1);
  await start("b");
  expect(state.claims).toEqual([]);
  expect(pool.report().misses).toEqual({ none_ready: 2 });
  await expect.poll(() => pool.report().ready).toBe(2);
  await start("b");
  await start("a");
  expect(state.claims).toEqual(["b from b", "a from a"]);
});

test("RUN-3 as many wait as servers with the same layer are idle, so that all can start at once", async () => {
  const { pool, start, stopAll } = poolOf();
  await Promise.all(["one", "two", "three"].map((label) => start("a", label)));
  await expect.poll(() => pool.report().ready).toBe(1);
  stopAll();
  await expect.poll(() => pool.report().ready).toBe(3);
  await Promise.all(["one", "two", "three"].map((label) => start("a", label)));
  expect(pool.report().hits).toBe(3);
});

test("CAP-1 RUN-3 callers' own instances of one server are as many servers, whose interpreters go with its layer", async () => {
  const { pool, start, stopAll } = poolOf();
  const startAll = (layer = "d".repeat(64)) =>
    Promise.all(["ada", "bob", "eve"].map((callerId) => start("a", "one", layer, callerId)));
  await startAll();
  await expect.poll(() => pool.report().ready).toBe(1);
  stopAll();
  await expect.poll(() => pool.report().ready).toBe(3);
  await startAll();
  expect(pool.report().hits).toBe(3);
  stopAll();
  // A new version with other dependencies: nobody starts the earlier one again.
  await start("a", "one", "f".repeat(64), "ada");
  await expect.poll(() => new Set(pool.layersInUse())).toEqual(new Set(["f".repeat(64)]));
});

test.each(["memory", "exited", "throws"] as const)(
  "RUN-3 a claim that fails (%s) is followed by an ordinary start",
  async (answer) => {
    const { pool, state, start, problems } = poolOf();
    await start("a");
    await expect.poll(() => pool.report().ready).toBe(1);
    state.answer = answer;
    expect(await start("a")).toMatchObject({ ok: true });
    expect(state.ordinary).toBe(2);
    expect(pool.report()).toMatchObject({ hits: 0, misses: { [answer === "memory" ? "memory" : "ended"]: 1 } });
    expect(problems).toHaveLength(answer === "throws" ? 1 : 0);
  },
);

test("RUN-3 a server whose imports had to run again counts as a miss", async () => {
  const { pool, state, start } = poolOf();
  await start("a");
  await expect.poll(() => pool.report().ready).toBe(1);
  state.answer = "environment";
  await start("a");
  expect(state.ordinary).toBe(1);
  expect(pool.report()).toMatchObject({ hits: 0, misses: { none_ready: 1, environment: 1 } });
});

test("RUN-1 interpreters give way when servers need the memory, and come back later", async () => {
  const { pool, state, waiting, start } = poolOf();
  for (const organization of ["a", "b", "c"]) await start(organization);
  await expect.poll(() => pool.report().ready).toBe(3);
  state.free = 120 * mebibyte;
  await start("d");
  expect(pool.report().ready).toBe(2);
  state.free = 0;
  pool.balance();
  expect(pool.report()).toMatchObject({ ready: 0, memoryBytes: 0 });
  expect(waiting.size).toBe(0);
  state.free = 10_000 * mebibyte;
  await expect.poll(() => pool.report().ready).toBe(4);
});

test("RUN-3 nothing is prewarmed while servers start", async () => {
  const { pool, state, start } = poolOf();
  state.busy = true;
  await start("a");
  pool.balance();
  expect(pool.report().ready).toBe(0);
  state.busy = false;
  await expect.poll(() => pool.report().ready).toBe(1);
});

test("RUN-6 a kind that can't be prewarmed, or whose interpreters die, is left alone for a while", async () => {
  const unsuitable = poolOf();
  unsuitable.state.prewarm = "unsuitable";
  await unsuitable.start("a");
  await expect.poll(() => unsuitable.state.prewarmed).toBe(1);
  await turn();
  await unsuitable.start("a");
  expect(unsuitable.pool.report()).toMatchObject({ ready: 0, misses: { none_ready: 1, unsuitable: 1 } });
  const { pool, waiting, start } = poolOf();
  await start("a");
  await expect.poll(() => pool.report().ready).toBe(1);
  for (const die of [...waiting.values()]) die();
  await expect.poll(() => pool.report()).toMatchObject({ ready: 0, died: 1 });
  pool.balance();
  await start("a");
  expect(pool.report()).toMatchObject({ ready: 0, misses: { none_ready: 1, failed: 1 } });
  const failing = poolOf();
  failing.state.prewarm = "throws";
  await failing.start("a");
  await expect.poll(() => failing.problems.length).toBe(1);
});

test("RUN-3 a share of 0 switches prewarming off, and closing ends what waits", async () => {
  const off = poolOf({ maxBytes: 0 });
  await off.start("a");
  off.pool.balance();
  expect(off.pool.report()).toEqual({ ready: 0, memoryBytes: 0, maxMemoryBytes: 0, hits: 0, misses: {}, died: 0 });
  const { pool, waiting, start } = poolOf();
  await start("a");
  await expect.poll(() => pool.report().ready).toBe(1);
  expect(pool.layersInUse()).toEqual(["d".repeat(64)]);
  await pool.close();
  expect(waiting.size).toBe(0);
  pool.balance();
  expect(pool.report().ready).toBe(0);
});

test("RUN-3 servers that ran before the runner started are expected, and each has one layer at a time", async () => {
  const { pool, start } = poolOf();
  const server = tinyServer.server("serve");
  pool.expect({ organizationId: "a", label: "one", deploymentId: "d" }, server, new Date(Date.now() - 60_000));
  await expect.poll(() => pool.report().ready).toBe(1);
  await start("a", "one");
  expect(pool.report().hits).toBe(1);
  await start("a", "one", "f".repeat(64));
  await expect.poll(() => pool.layersInUse()).toEqual(["f".repeat(64)]);
});

test("RUN-3 none waits for servers that were not used for a while: all of them idle, they cost no process", async () => {
  const { pool, waiting, start, stopAll } = poolOf({ keepMs: 1500 });
  const longAgo = new Date(Date.now() - 2000);
  pool.expect({ organizationId: "b", label: "old", deploymentId: "d" }, tinyServer.server("serve"), longAgo);
  await start("a", "one");
  await expect.poll(() => pool.report().ready).toBe(1);
  // While a server runs, one waits for the server of the next push.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(pool.report().ready).toBe(1);
  stopAll();
  await expect.poll(() => pool.report().ready, { timeout: 10_000 }).toBe(0);
  expect([waiting.size, pool.layersInUse()]).toEqual([0, []]);
  // It is found again once it is used.
  await start("a", "one");
  await expect.poll(() => pool.report().ready).toBe(1);
});
