import { newId } from "@towpath/core/ids";
import { RunnerError, serverKeyOf } from "@towpath/runner-api";
import { tinyServer } from "@towpath/runtime/testing";
import { afterEach, expect, test } from "vitest";
import { Places } from "../places/places.ts";
import { createLightDriver } from "../testing/light-driver.ts";
import { quickTiming } from "../testing/timing.ts";
import { InstancePool } from "./instance-pool.ts";

const pools: InstancePool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** A pool of callers' own servers without processes, which end once `mayEnd`. `values`: stamps by server. */
function ownPool({ mayEnd = Promise.resolve() }: { readonly mayEnd?: Promise<void> } = {}) {
  const light = createLightDriver();
  const values = new Map<string, string>();
  const stampOf = (server: string) => {
    const stamp = values.get(server);
    if (stamp === undefined) throw new RunnerError("values_missing", "API_TOKEN");
    return stamp;
  };
  const budget = { maxInstances: 2000, maxStarting: 8, memoryBytes: 2 ** 50, startReserveBytes: 2 ** 20, maxShare: 1 };
  const pool = new InstancePool({
    start: async (_server, spec, onOutput) => {
      const started = await light.driver.servers.start(spec, onOutput);
      if (!started.ok) return started;
      const stop = async (graceMs: number) => {
        await mayEnd;
        return await started.handle.stop(graceMs);
      };
      return { ...started, handle: { ...started.handle, stop } };
    },
    timing: { ...quickTiming, stopAfterMs: 60_000 },
    places: new Places(budget, 20_000),
    record: {
      started: () => {},
      changed: () => {},
      woken: () => {},
      measured: () => {},
      decrypted: () => {},
      close: async () => {},
    },
    owner: async () => ({ organizationId: "a", callers: { projectId: "p", most: 1000 } }),
    valuesStamp: async (server) => stampOf(server),
    open: async (server) => ({
      server: tinyServer.server("serve"),
      label: "light",
      log: { output: () => () => {}, platform: () => {} },
      redact: (text) => text,
      valuesStamp: stampOf(server),
    }),
    nextRebuild: async () => null,
    uses: async (ids) => new Map(ids.map((id) => [id, "needed"])),
    onError: (error) => {
      throw error;
    },
  });
  pools.push(pool);
  const deploymentId = newId();
  const serverOf = (callerId: string) => serverKeyOf({ deploymentId, callerId });
  return { pool, light, values, serverOf };
}

test("CAP-1 once a value is deleted the caller is refused at once, even if their server takes its time to end", async () => {
  const { promise: mayEnd, resolve: letEnd } = Promise.withResolvers<void>();
  const { pool, light, values, serverOf } = ownPool({ mayEnd });
  const [ada, bob] = [serverOf(newId()), serverOf(newId())];
  for (const server of [ada, bob]) values.set(server, "1");
  const [first, other] = [await pool.lease(ada), await pool.lease(bob)];
  values.delete(ada);
  await expect(pool.lease(ada)).rejects.toMatchObject({ code: "values_missing" });
  expect(light.running.has(first.instanceId)).toBe(true);
  letEnd();
  await expect.poll(() => light.running.has(first.instanceId), { timeout: 5000 }).toBe(false);
  expect(await pool.isRunning(bob, other.instanceId)).toBe(true);
  // Entered again: another process, though the earlier one was just ending.
  values.set(ada, "2");
  expect((await pool.lease(ada)).instanceId).not.toBe(first.instanceId);
});

test("CAP-1 a thousand callers of one server each get an instance of their own, and a changed value another one", async () => {
  const { pool, light, values, serverOf } = ownPool();
  const servers = Array.from({ length: 1000 }, () => serverOf(newId()));
  for (const server of servers) values.set(server, "1");
  const begun = performance.now();
  const leased = await Promise.all(servers.map((server) => pool.lease(server)));
  expect(new Set(leased.map(({ instanceId }) => instanceId)).size).toBe(1000);
  // Eight at a time, a few milliseconds each; the bound is for busy machines.
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(light.peak.starting).toBeLessThanOrEqual(8);
  const [changed = "", same = ""] = servers;
  values.set(changed, "2");
  expect((await pool.lease(changed)).instanceId).not.toBe(leased[0]?.instanceId);
  expect((await pool.lease(same)).instanceId).toBe(leased[1]?.instanceId);
});
