import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@towpath/core/ids";
import { instance, route, serverLog as serverLogTable } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { writeServerLogs } from "@towpath/logs";
import { RunnerError } from "@towpath/runner-api";
import type { RuntimeDriver, ServerSpec } from "@towpath/runtime";
import { createSandboxDriver, shortDirectory, strictIsolation, tinyServer } from "@towpath/runtime/testing";
import { createRedactor } from "@towpath/secrets/redaction";
import { asc, eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { openClock } from "../../../../tests/clock.ts";
import { isThorough, rounds } from "../../../../tests/thorough.ts";
import type { InstanceTiming } from "../config.ts";
import { deploymentUses } from "../deployments/deployment.store.ts";
import { LineSpool } from "../logs/line-spool.ts";
import { serverLog } from "../logs/server-log.ts";
import { createServerLogWriter, type ServerLogWriter } from "../logs/server-log-writer.ts";
import { Places } from "../places/places.ts";
import { addDeployment, seedDeployment } from "../testing/seed-deployment.ts";
import { quickTiming } from "../testing/timing.ts";
import { instanceStore } from "./instance.store.ts";
import { InstancePool } from "./instance-pool.ts";
import { createInstanceRecord, type InstanceRecord } from "./instance-record.ts";

const clock = openClock();
const database = openTestDatabase();
let driver: RuntimeDriver;
let directory = "";
let record: InstanceRecord;
let lines: ServerLogWriter;
const pools: InstancePool[] = [];
/** A layer whose directory doesn't exist, and one that the store lacks. */
const [unmountable, lost] = ["e".repeat(64), "f".repeat(64)];
const problems: unknown[] = [];
let rebuildAt: Date | null = null;
const failing = (error: unknown) => {
  throw error;
};

beforeAll(async () => {
  directory = await shortDirectory();
  const config = tinyServer.driverConfig(directory);
  const get = async (digest: string) =>
    digest === unmountable ? "/var/lib/private-of-the-host" : await config.layers.get(digest);
  driver = createSandboxDriver({
    ...config,
    layers: { ...config.layers, get },
    stateDirectory: directory,
    ...strictIsolation,
    allowWeakLimits: true,
  });
  await driver.host.selfTest();
  record = createInstanceRecord(instanceStore(database.db, { id: newId(), generation: 1 }), failing);
  lines = createServerLogWriter(
    (rows) => writeServerLogs(database.pool, rows),
    failing,
    new LineSpool(directory, failing),
  );
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});
afterAll(async () => {
  await driver.close();
  await Promise.all([record.close(5000), lines.close(5000)]);
  await rm(directory, { recursive: true, force: true });
});

type Deployed = Awaited<ReturnType<typeof seedDeployment>>;

function poolOf(
  serverOf: (deploymentId: string) => ServerSpec,
  change: Partial<InstanceTiming> = {},
  { maxInstances = 10, placeWaitMs = 20_000 } = {},
): { pool: InstancePool; opened: () => number } {
  let opened = 0;
  const pool = new InstancePool({
    start: (_server, spec, onOutput) => driver.servers.start(spec, onOutput),
    timing: { ...quickTiming, ...change },
    places: new Places(
      { maxInstances, maxStarting: 4, memoryBytes: 2 ** 40, startReserveBytes: 2 ** 20, maxShare: 0.75 },
      placeWaitMs,
    ),
    owner: async (organizationId) => ({ organizationId, callers: null }),
    valuesStamp: async () => null,
    record,
    uses: (ids) => deploymentUses(database.db, ids),
    nextRebuild: async () => rebuildAt,
    onError: (error) => problems.push(error),
    async open(deploymentId) {
      opened += 1;
      const ids = { projectId: deploymentId, deploymentId };
      return {
        server: serverOf(deploymentId),
        label: deploymentId,
        log: serverLog(ids, lines.push, redactor),
        redact: redactor.text,
      };
    },
  });
  pools.push(pool);
  return { pool, opened: () => opened };
}

const redactor = createRedactor({ SECRET_MODULE: "nowhere", SECRET_MODE: "nothing to do" });
const serving = () => tinyServer.server("serve");

async function rows(deployed: Deployed) {
  return await database.db
    .select()
    .from(instance)
    .where(eq(instance.deploymentId, deployed.deploymentId))
    .orderBy(asc(instance.startedAt));
}

async function logOf(deployed: Deployed) {
  return await database.db
    .select()
    .from(serverLogTable)
    .where(eq(serverLogTable.deploymentId, deployed.deploymentId))
    .orderBy(asc(serverLogTable.id));
}

async function stateOf(pool: InstancePool): Promise<string | undefined> {
  return (await pool.list())[0]?.state;
}

/** The answer to a call, within a lease: on a busy machine the first lease may be over before the call arrives. */
async function answerOf(pool: InstancePool, { deploymentId }: Deployed): Promise<string> {
  const ask = async () => tinyServer.get((await pool.lease(deploymentId)).endpoint, "/", 1000);
  return await vi.waitFor(async () => (await ask()) ?? Promise.reject(new Error("no answer")), 15_000);
}

test("RUN-3 the first lease starts the server, concurrent ones share the start, later ones find it ready", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool, opened } = poolOf(serving, { leaseMs: 20_000 });
  const leases = await Promise.all([1, 2, 3, 4, 5].map(() => pool.lease(deployed.deploymentId)));
  expect(opened()).toBe(1);
  expect(new Set(leases.map((lease) => lease.instanceId)).size).toBe(1);
  expect(leases[0]).toMatchObject({ state: "started", leaseMs: 20_000, shown: { output: expect.any(Array) } });
  expect(await tinyServer.get(leases[0]?.endpoint)).toMatch(/^hello/);
  expect(await pool.lease(deployed.deploymentId)).toMatchObject({ state: "ready" });
  await expect.poll(() => rows(deployed)).toMatchObject([{ state: "ready", readyAt: expect.any(Date), restarts: 0 }]);
});

test("RUN-3 an idle server is frozen, woken by a request, stopped when idle for longer, and then started again", async () => {
  const deployed = await seedDeployment(database.db);
  // Long enough that a busy machine doesn't stop it before the test wakes it.
  const { pool } = poolOf(serving, { stopAfterMs: 6000 });
  const first = await pool.lease(deployed.deploymentId);
  const greeting = await answerOf(pool, deployed);
  await expect.poll(() => stateOf(pool)).toBe("frozen");
  expect(await pool.state(deployed.deploymentId)).toBe("asleep");
  expect(await tinyServer.get(first.endpoint, "/", 200)).toBeNull();
  const woken = await pool.lease(deployed.deploymentId);
  expect(woken).toMatchObject({ state: "woken", instanceId: first.instanceId });
  expect(await answerOf(pool, deployed)).toBe(greeting);
  await expect.poll(() => stateOf(pool), { timeout: 15_000 }).toBeUndefined();
  const again = await pool.lease(deployed.deploymentId);
  expect(again.state).toBe("started");
  expect(again.instanceId).not.toBe(first.instanceId);
  await expect
    .poll(() => rows(deployed))
    .toMatchObject([
      { id: first.instanceId, state: "stopped", endedAt: expect.any(Date), endReason: "it was not used" },
      { id: again.instanceId, state: "ready" },
    ]);
});

test.runIf(isThorough)("RUN-3 a jump of the wall clock neither ends nor extends a lease", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(serving, { leaseMs: 8000 });
  const lease = await pool.lease(deployed.deploymentId);
  const wall = Date.now();
  const wallClock = vi.spyOn(Date, "now").mockReturnValue(wall + 86_400_000);
  try {
    await sleep(500);
    expect(await tinyServer.get(lease.endpoint)).toMatch(/^hello/);
    expect(await pool.lease(deployed.deploymentId)).toMatchObject({ state: "ready", instanceId: lease.instanceId });
    wallClock.mockReturnValue(wall - 86_400_000);
    await expect.poll(() => stateOf(pool)).toBe("frozen");
  } finally {
    wallClock.mockRestore();
  }
});

test.runIf(isThorough)("RUN-3 a leased server is never frozen, even when leases race with freezing", async () => {
  const deployed = await seedDeployment(database.db);
  // Long enough that a busy machine has its answer within the lease, short enough to race with the freezing.
  const { pool } = poolOf(serving, { leaseMs: 250, freezeAfterMs: 1, stopAfterMs: 60_000 });
  const states: string[] = [];
  for (let round = 0; round < 30; round += 1) {
    const lease = await pool.lease(deployed.deploymentId);
    states.push(lease.state);
    const askedAt = Date.now();
    const answer = await tinyServer.get(lease.endpoint, "/", 1000);
    // Within the lease there is an answer; after it there may be none.
    if (Date.now() - askedAt < 240 || answer !== null) expect(answer).toMatch(/^hello/);
    await sleep(220 + (round % 10) * 8);
  }
  expect(states.filter((state) => state === "woken").length).toBeGreaterThan(3);
  expect(states.filter((state) => state === "started")).toHaveLength(1);
});

test("RUN-5 KEY-4 output becomes server log with level, stream and time; the platform logs its own events too", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(() => tinyServer.server("exit"));
  await expect(pool.lease(deployed.deploymentId)).rejects.toThrow("exited with status 7");
  await expect.poll(() => logOf(deployed)).toHaveLength(3);
  expect((await logOf(deployed)).map(({ stream, level, line }) => `${stream} ${level} ${line}`).toSorted()).toEqual([
    "platform error The server did not start: it exited with status 7",
    "stderr info [SECRET_MODE]",
    "stdout info starting in mode exit",
  ]);
});

test.runIf(isThorough)("RUN-5 under a flood the server still answers and the log is bounded", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(() => tinyServer.server("flood"), { leaseMs: 60_000 });
  const begun = performance.now();
  const lease = await pool.lease(deployed.deploymentId);
  await expect
    .poll(async () => (await logOf(deployed)).some(({ line }) => line.includes("dropped")), { timeout: 40_000 })
    .toBe(true);
  expect(await tinyServer.get(lease.endpoint, "/", 10_000)).toMatch(/^hello/);
  await pool.stop(deployed.deploymentId);
  const seconds = (performance.now() - begun) / 1000;
  // A burst of ten seconds' lines, and 500 a second; a line reports each drop.
  expect((await logOf(deployed)).length).toBeLessThan(5000 + 502 * (seconds + 1));
});

test("RUN-6 a leased server that crashes is restarted automatically, and the crash is shown", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(serving, { leaseMs: 5000 });
  const first = await pool.lease(deployed.deploymentId);
  await tinyServer.get(first.endpoint, "/crash");
  await expect.poll(async () => (await pool.list())[0]?.id !== first.instanceId && (await stateOf(pool))).toBe("ready");
  expect(await pool.lease(deployed.deploymentId)).toMatchObject({ state: "ready" });
  await expect
    .poll(() => rows(deployed))
    .toMatchObject([
      { state: "crashed", exitCode: 3, endReason: "it exited with status 3" },
      { state: "ready", restarts: 1 },
    ]);
});

test("RUN-6 KEY-4 a server that keeps failing is refused with a growing back-off and the reason", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool, opened } = poolOf(() => tinyServer.server("fail"), { firstBackOffMs: 700 });
  const refused = await pool.lease(deployed.deploymentId).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RunnerError);
  expect(refused).toMatchObject({
    code: "start_failed",
    // KEY-4: callers of the server read this.
    message: expect.stringContaining("No module named '[SECRET_MODULE]'"),
  });
  // The first wait is short enough to be held; the second is not.
  await expect(pool.lease(deployed.deploymentId)).rejects.toMatchObject({ code: "start_failed", retryAfterMs: 1400 });
  await expect(pool.lease(deployed.deploymentId)).rejects.toMatchObject({
    code: "crash_backoff",
    message: expect.stringContaining("No module named '[SECRET_MODULE]'"),
    retryAfterMs: expect.any(Number),
  });
  expect(opened()).toBe(2);
  await expect.poll(() => rows(deployed)).toMatchObject([{ state: "crashed" }, { state: "crashed" }]);
});

test.runIf(isThorough)("BLD-2 RUN-5 a start that takes too long is refused with its output so far", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(() => tinyServer.server("hang"), { startTimeoutMs: 1_000 });
  await expect(pool.lease(deployed.deploymentId)).rejects.toMatchObject({
    code: "start_failed",
    message: expect.stringMatching(/^The server did not start: it did not answer within [123] s: /),
    timedOut: { output: expect.any(Array), late: { activity: expect.any(String), stack: [] } },
  });
});

test("RUN-8 a server with lost layers is refused as such, every time and at once, until the next attempt", async () => {
  const deployed = await seedDeployment(database.db);
  const { layers } = tinyServer.server("serve");
  const server = () => tinyServer.server("serve", { layers: { ...layers, code: lost } });
  const { pool, opened } = poolOf(server);
  const begun = performance.now();
  for (let call = 0; call < 10; call++)
    await expect(pool.lease(deployed.deploymentId)).rejects.toMatchObject({
      code: "layers_lost",
      message: expect.stringContaining("no longer stored"),
      retryAfterMs: 5000,
      waitHelps: false,
    });
  expect(performance.now() - begun).toBeLessThan(5000);
  expect(opened()).toBeLessThan(10);
  rebuildAt = new Date(Date.now() + 180_000);
  const again = { code: "layers_lost", retryAfterMs: expect.closeTo(180_000, -5) };
  const { pool: later } = poolOf(server);
  for (let call = 0; call < 2; call++) await expect(later.lease(deployed.deploymentId)).rejects.toMatchObject(again);
});

test("RUN-1 errors about the host's files go to the operator's log, not to callers and owners", async () => {
  const deployed = await seedDeployment(database.db);
  const { layers } = tinyServer.server("serve");
  const { pool } = poolOf(() => tinyServer.server("serve", { layers: { ...layers, code: unmountable } }));
  const refused = await pool.lease(deployed.deploymentId).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "start_failed", message: expect.stringContaining("ask the operator") });
  expect(String(refused)).not.toContain("private-of-the-host");
  expect(JSON.stringify(await rows(deployed))).not.toContain("private-of-the-host");
  await expect.poll(async () => (await logOf(deployed)).length).toBe(1);
  expect((await logOf(deployed))[0]?.line).not.toContain("private-of-the-host");
  expect(String(problems.at(-1))).toContain("private-of-the-host");
});

test("RUN-1 a server that uses too much memory is ended with that reason, and the platform keeps running", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(serving, { freezeAfterMs: 60_000, stopAfterMs: 60_000, leaseMs: 100 });
  const lease = await pool.lease(deployed.deploymentId);
  expect(await tinyServer.get(lease.endpoint, "/allocate/600")).toBeNull();
  await expect.poll(async () => (await rows(deployed))[0]?.endReason).toMatch(/more than its 128 MiB/);
});

test.each(["/fork-bomb", "/threads-and-silence"].slice(0, rounds(1, 2)))(
  "RUN-1 RUN-6 a server that is stuck at its limit of processes is ended with that reason and starts again: %s",
  async (path) => {
    const deployed = await seedDeployment(database.db);
    const { pool } = poolOf(serving, { freezeAfterMs: 60_000, stopAfterMs: 60_000, leaseMs: 60_000 });
    const { endpoint } = await pool.lease(deployed.deploymentId);
    expect(await tinyServer.get(endpoint, path, 60_000)).toBeNull();
    await expect
      .poll(async () => (await rows(deployed))[0])
      .toMatchObject({
        state: "crashed",
        endReason: expect.stringMatching(
          /stuck at its limit of 32 processes and threads for 10 s.*raise TOWPATH_SERVER_PROCESSES/,
        ),
      });
    expect(await answerOf(pool, deployed)).toMatch(/^hello/);
  },
);

test("RUN-3 a full host makes room by stopping unleased instances, and a start waits for it", async () => {
  const deployments = await Promise.all([
    seedDeployment(database.db),
    seedDeployment(database.db),
    seedDeployment(database.db),
  ]);
  const [first, second, third] = deployments.map((each) => each.deploymentId) as [string, string, string];
  const { pool } = poolOf(serving, { leaseMs: 1500, freezeAfterMs: 60_000, stopAfterMs: 60_000 }, { maxInstances: 2 });
  await Promise.all([pool.lease(first), pool.lease(second)]);
  await pool.lease(second);
  // Both are leased, so it waits; then the least recently used one is stopped, although it is not frozen.
  expect((await pool.lease(third)).state).toBe("started");
  expect((await pool.list()).map((each) => each.deploymentId).toSorted()).toEqual([second, third].toSorted());
});

test.runIf(isThorough)("RUN-6 a dead server is not listed from the moment it dies", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(serving, { leaseMs: 5000, firstBackOffMs: 1 });
  for (let round = 0; round < 3; round += 1) {
    const lease = await pool.lease(deployed.deploymentId);
    await tinyServer.get(lease.endpoint, "/crash");
    expect((await pool.lease(deployed.deploymentId)).instanceId).not.toBe(lease.instanceId);
  }
});

test("a deleted deployment's server is stopped by the next reconciliation", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(serving, { leaseMs: 60_000 });
  await pool.lease(deployed.deploymentId);
  await pool.reconcile();
  expect(await pool.list()).toHaveLength(1);
  await database.pool.query("DELETE FROM organization WHERE id = $1", [deployed.organizationId]);
  await pool.reconcile();
  expect(await pool.list()).toHaveLength(0);
});

test("BLD-10 RUN-3 a replaced version is stopped once no route, session or lease needs it", async () => {
  const deployed = await seedDeployment(database.db);
  const { pool } = poolOf(serving, { leaseMs: 800, freezeAfterMs: 60_000, stopAfterMs: 60_000 });
  const lease = await pool.lease(deployed.deploymentId);
  clock.pass(1500);
  for (let round = 0; round < 3; round++) await pool.reconcile();
  expect(await stateOf(pool)).toBe("ready");

  const newer = await addDeployment(database.db, deployed);
  await database.db.update(route).set({ deploymentId: newer }).where(eq(route.branchId, deployed.branchId));
  await pool.reconcile();
  expect(await stateOf(pool)).toBe("ready");
  // A stream of an earlier session renews its lease.
  await pool.lease(deployed.deploymentId);
  await pool.reconcile();
  expect(await pool.list()).toMatchObject([{ id: lease.instanceId }]);
  clock.pass(1500);
  await pool.reconcile();
  expect(await pool.list()).toEqual([]);
  await expect
    .poll(async () => (await rows(deployed))[0])
    .toMatchObject({ state: "stopped", endReason: "a newer version took its place" });
});
