import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@towpath/core/ids";
import { SandboxError } from "@towpath/runtime";
import { tinyServer } from "@towpath/runtime/testing";
import { afterEach, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { type InstanceTiming, readConfig } from "../config.ts";
import type { DeploymentUse } from "../deployments/deployment.store.ts";
import type { Budget } from "../places/placement.ts";
import { Places } from "../places/places.ts";
import { createLightDriver } from "../testing/light-driver.ts";
import { quickTiming } from "../testing/timing.ts";
import { InstancePool } from "./instance-pool.ts";

const mebibyte = 1024 * 1024;
const pools: InstancePool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

type Change = {
  readonly budget?: Partial<Budget>;
  readonly timing?: Partial<InstanceTiming>;
  readonly waitMs?: number;
  readonly memoryBytes?: () => number | null;
  readonly use?: () => DeploymentUse;
  /** What a start fails with at the moment. */
  readonly problem?: () => Error | null;
};

/** A pool of servers without processes; the prefix of a deployment's id names its organization. */
function lightPool(change: Change = {}) {
  const light = createLightDriver(change.memoryBytes);
  const budget = {
    maxInstances: 35,
    maxStarting: 8,
    memoryBytes: 100_000 * mebibyte,
    startReserveBytes: 128 * mebibyte,
    maxShare: 0.75,
    ...change.budget,
  };
  const pool = new InstancePool({
    start: async (_server, spec, onOutput) => {
      const problem = change.problem?.() ?? null;
      if (problem !== null) throw problem;
      return await light.driver.servers.start(spec, onOutput);
    },
    timing: { ...quickTiming, stopAfterMs: 60_000, ...change.timing },
    places: new Places(budget, change.waitMs ?? 20_000),
    record: {
      started: () => {},
      changed: () => {},
      woken: () => {},
      measured: () => {},
      decrypted: () => {},
      close: async () => {},
    },
    owner: async (server) => ({ organizationId: server.split("-")[0] ?? "", callers: null }),
    valuesStamp: async () => null,
    open: async () => ({
      server: tinyServer.server("serve"),
      label: "light",
      log: { output: () => () => {}, platform: () => {} },
      redact: (text) => text,
    }),
    nextRebuild: async () => null,
    uses: async (ids) => new Map(ids.map((id) => [id, change.use?.() ?? "needed"])),
    onError: (error) => {
      if (change.problem === undefined) throw error;
    },
  });
  pools.push(pool);
  return { pool, ...light };
}

const named = (organization: string, count: number) =>
  Array.from({ length: count }, () => `${organization}-${newId()}`);

test("RUN-6 RUN-7 a start that an outage prevents is no failure of the server: it begins as soon as the outage is over", async () => {
  let problem: Error | null = new SandboxError("unreachable", "10.0.0.1 does not answer.");
  const { pool } = lightPool({ problem: () => problem, timing: { firstBackOffMs: 600_000, maxBackOffMs: 600_000 } });
  const [server = ""] = named("a", 1);
  for (let call = 0; call < 3; call++) {
    const refusal = await pool.lease(server).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "unavailable", waitHelps: true, retryAfterMs: 2000 });
    expect(String(refusal)).not.toContain("10.0.0.1");
  }
  problem = null;
  expect(await pool.lease(server)).toMatchObject({ state: "started" });
});

test("RUN-8 interrupted servers start again where nothing bounds the starts at a time, and none is no work", async () => {
  const unbounded = { maxStarting: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY };
  const { pool } = lightPool({ budget: unbounded });
  pool.startAgain([]);
  const servers = named("a", 5);
  pool.startAgain(servers);
  await expect
    .poll(async () => (await pool.list()).map(({ deploymentId }) => deploymentId).toSorted())
    .toEqual(servers.toSorted());
});

test("RUN-3 with room for 35 servers, 200 concurrent calls to different servers all succeed", async () => {
  const { pool, peak } = lightPool();
  const servers = ["a", "b", "c", "d"].flatMap((organization) => named(organization, 50));
  const leases = await Promise.all(servers.map((server) => pool.lease(server)));
  expect(new Set(leases.map((lease) => lease.instanceId)).size).toBe(200);
  expect(peak.running).toBe(35);
  expect(peak.starting).toBeLessThanOrEqual(8);
});

test.runIf(isThorough)(
  "RUN-3 200 servers of one organization, called one after the other, are all served, with limited memory too",
  async () => {
    const { pool, peak } = lightPool({ budget: { memoryBytes: 1280 * mebibyte }, timing: { leaseMs: 20 } });
    for (const server of named("a", 200)) await pool.lease(server);
    expect(peak.running).toBeLessThanOrEqual(10);
  },
);

test("RUN-3 servers take only as much room as the memory that they really use", async () => {
  const { pool, running } = lightPool({
    budget: { memoryBytes: 1280 * mebibyte, maxInstances: 100 },
    timing: { leaseMs: 60_000, contendedLeaseMs: 60_000 },
    memoryBytes: () => 20 * mebibyte,
  });
  // Ten start reserves fill the budget; once they are measured there is room for many more.
  await Promise.all(named("a", 50).map((server) => pool.lease(server)));
  expect(running.size).toBe(50);
});

test("RUN-3 of two starts for the last free place one gets it, and the other waits without failing", async () => {
  const { pool, peak } = lightPool({ budget: { maxInstances: 2 } });
  const [first, second, third] = named("a", 3) as [string, string, string];
  await pool.lease(first);
  const both = await Promise.all([pool.lease(second), pool.lease(third)]);
  expect(both.map((lease) => lease.state)).toEqual(["started", "started"]);
  expect(peak.running).toBe(2);
});

test("RUN-3 a start that times out names the shortage and the operator's setting", async () => {
  const held = { leaseMs: 60_000, contendedLeaseMs: 60_000 };
  const places = lightPool({ budget: { maxInstances: 1 }, timing: held, waitMs: 50 }).pool;
  const [first, second] = named("a", 2) as [string, string];
  await places.lease(first);
  await expect(places.lease(second)).rejects.toMatchObject({
    code: "capacity",
    message: expect.stringMatching(/All 1 places .*TOWPATH_MAX_INSTANCES/),
    retryAfterMs: 5000,
  });
  const memory = lightPool({ budget: { memoryBytes: 200 * mebibyte }, timing: held, waitMs: 50 }).pool;
  await memory.lease(first);
  await expect(memory.lease(second)).rejects.toThrow(/200 MiB .*TOWPATH_MEMORY_MIB/);
  const share = lightPool({ budget: { maxInstances: 4 }, timing: held, waitMs: 50 }).pool;
  await share.lease(named("b", 1)[0] ?? "");
  for (const server of named("a", 3)) await share.lease(server);
  await expect(share.lease(second)).rejects.toThrow(/75 %.*TOWPATH_MAX_ORGANIZATION_SHARE/);
});

test("RUN-3 leases are short while a start waits, so that unused instances free their places soon", async () => {
  const { pool } = lightPool({ budget: { maxInstances: 1 }, timing: { leaseMs: 2500, contendedLeaseMs: 50 } });
  const [first, second] = named("a", 2) as [string, string];
  expect((await pool.lease(first)).leaseMs).toBe(2500);
  const waiting = pool.lease(second);
  await expect.poll(async () => (await pool.lease(first)).leaseMs).toBe(50);
  expect((await waiting).state).toBe("started");
});

test("RUN-3 an organization that keeps calling all its servers does not displace another one's", async () => {
  const { pool } = lightPool({ budget: { maxInstances: 8 }, timing: { leaseMs: 30, contendedLeaseMs: 30 } });
  const quiet = named("quiet", 2);
  const before = await Promise.all(quiet.map((server) => pool.lease(server)));
  const loud = named("loud", 60);
  await Promise.all(loud.map((server) => pool.lease(server)));
  const after = await Promise.all(quiet.map((server) => pool.lease(server)));
  expect(after.map((lease) => lease.instanceId)).toEqual(before.map((lease) => lease.instanceId));
});

test("RUN-6 an instance whose process has died is not leased again, even before its exit has been reported", async () => {
  const { pool, kill } = lightPool({ timing: { leaseMs: 5000, firstBackOffMs: 10 } });
  const server = named("a", 1)[0] ?? "";
  const first = await pool.lease(server);
  kill(first.instanceId, 300);
  expect(await pool.list()).toEqual([]);
  const second = await pool.lease(server);
  expect(second.instanceId).not.toBe(first.instanceId);
});

test("RUN-6 a server that stops while it waits for a place is not started later", async () => {
  const { pool, running } = lightPool({
    budget: { maxInstances: 1 },
    timing: { leaseMs: 60_000, contendedLeaseMs: 50 },
  });
  const [first, second] = named("a", 2) as [string, string];
  await pool.lease(first);
  const refused = expect(pool.lease(second)).rejects.toMatchObject({ code: "start_failed" });
  // Short leases show that it waits.
  await expect.poll(async () => (await pool.lease(first)).leaseMs).toBe(50);
  await pool.stop(second);
  await refused;
  // The place is free, and nobody takes it.
  await pool.stop(first);
  await sleep(100);
  expect(running.size).toBe(0);
});

test("RUN-8 servers in use that end with the shim start again by themselves, and who calls one waits for no other", async () => {
  const { pool, running, peak, killShim } = lightPool({
    budget: { maxInstances: 50, maxStarting: 4 },
    timing: { leaseMs: 60_000, contendedLeaseMs: 60_000 },
  });
  const servers = named("a", 40);
  await Promise.all(servers.map((server) => pool.lease(server)));
  peak.starting = 0;
  killShim();
  await expect.poll(() => running.size, { interval: 1 }).toBeLessThan(10);
  await pool.lease(servers.at(-1) ?? "");
  expect(running.size).toBeLessThan(20);
  await expect.poll(() => running.size).toBe(40);
  // Two by themselves, and the called one.
  expect(peak.starting).toBeLessThanOrEqual(3);
});

test("RUN-8 a runner that shuts down answers so, and the next one starts the servers", async () => {
  const { pool } = lightPool({ budget: { maxInstances: 1 } });
  await pool.close();
  const [server] = named("a", 1) as [string];
  await expect(pool.lease(server)).rejects.toMatchObject({ code: "stopping", retryAfterMs: 1000 });
});

test("BLD-10 RUN-3 a version that was called until a newer one took its place is stopped within a minute", async () => {
  const settings = { DATABASE_URL: "x", TOWPATH_DATA_DIR: "/x", TOWPATH_RUN_DIR: "/x", TOWPATH_SECRET: "x".repeat(32) };
  const { timing } = readConfig({ ...settings, TOWPATH_SERVER_URL: "http://localhost/{name}" });
  vi.useFakeTimers();
  try {
    let use: DeploymentUse = "needed";
    const { pool } = lightPool({ timing, use: () => use });
    const [server = ""] = named("a", 1);
    await pool.lease(server);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    await pool.lease(server);
    use = "replaced";
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    await expect.poll(() => pool.list()).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
