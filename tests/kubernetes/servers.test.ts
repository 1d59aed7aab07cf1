import { randomUUID } from "node:crypto";
import {
  type ClusterSettings,
  collect,
  connectionOf,
  instanceOf,
  KubernetesApi,
  openClusterDriver,
  type RuntimeDriver,
  startedBy,
  tinyServer,
} from "@towpath/runtime/testing/cluster";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { clusterOf } from "./cluster.ts";
import { openServersRig, type ServersRig } from "./servers-rig.ts";

const cluster = clusterOf(inject("clusterDirectory"));
const directory = inject("clusterDirectory");
let rig: ServersRig;
let api: KubernetesApi;
const opened: RuntimeDriver[] = [];

beforeAll(async () => {
  rig = await openServersRig(cluster, directory);
  api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }), rig.namespace);
}, 900_000);
afterEach(async () => {
  await Promise.all(opened.splice(0).map((driver) => driver.close()));
});
afterAll(async () => {
  await api.close();
  await rig.close();
});

/** `change`: of the pods' settings. */
function open(change: Partial<ClusterSettings["pods"]> = {}): RuntimeDriver {
  const role = { kind: "servers", identity: rig.identity, adoptWithinMs: 0, onSuperseded: () => {} } as const;
  const driver = rig.withRealLayers(openClusterDriver(rig.settings(directory, change), rig.layers, role));
  opened.push(driver);
  return driver;
}
/** As the API server has it now. */
const podsOf = async () => (await api.list("pods", { "towpath.dev/role": "server" })).items;
const get = (endpoint: Parameters<typeof tinyServer.get>[0], path: string) => tinyServer.get(endpoint, path);

describe("a runner that starts again", () => {
  test("RUN-8 takes servers over, whose output goes on without a gap or a double", async () => {
    const seen: { line: string; sequence: number | undefined }[] = [];
    const first = open();
    const spec = { ...instanceOf("serve"), memo: "what the next one must know" };
    const { endpoint } = await startedBy(first, spec, (_, line, __, sequence) => seen.push({ line, sequence }));
    await startedBy(first, { ...instanceOf("serve"), memo: "unclaimed" });
    await get(endpoint, "/print/5");
    await expect.poll(() => seen.at(-1)?.line).toBe("line 4");
    // It reads no more, as if it were killed.
    const kept = seen.slice(0, 4);
    await get(endpoint, "/print/2");
    const later: typeof seen = [];
    const next = open();
    const last = { stdout: kept.at(-1)?.sequence ?? 0 };
    const [adopted, ...others] = await next.servers.adopt(async ({ instanceId, memo }) => {
      if (instanceId !== spec.instanceId) return null;
      expect(memo).toBe(spec.memo);
      return { onOutput: (_, line, __, sequence) => later.push({ line, sequence }), last };
    });
    expect(others).toEqual([]);
    expect(adopted?.handle.endpoint).toEqual(endpoint);
    await get(adopted?.handle.endpoint, "/print/1");
    const rest = ["line 3", "line 4", "line 0", "line 1", "line 0"];
    await expect.poll(() => later.map(({ line }) => line)).toEqual(rest);
    expect(seen.slice(4, 6)).toEqual(later.slice(0, 2));
    // The one that nobody claimed is gone.
    await expect
      .poll(async () => (await podsOf()).map(({ metadata }) => metadata.name))
      .toEqual([`server-${spec.instanceId}`]);
    expect((await adopted?.handle.stop(100))?.reason).toBe("stopped");
  });
});

test("RUN-8 the server that a killed worker was inspecting is removed, unless its build runs", async () => {
  const worker = () => {
    const driver = rig.withRealLayers(openClusterDriver(rig.settings(directory), rig.layers, { kind: "builds" }));
    opened.push(driver);
    return driver;
  };
  const [killed, other] = [worker(), worker()];
  const buildId = randomUUID();
  const handle = await startedBy(killed, { ...instanceOf("serve"), buildId });
  const served = await startedBy(open(), instanceOf("serve"));
  expect(await other.builds.removeLost(async (ids) => new Set(ids))).toBe(0);
  const asked: string[] = [];
  const removed = await other.builds.removeLost(async (ids) => {
    asked.push(...ids);
    return new Set();
  });
  expect([removed, asked]).toEqual([1, [buildId]]);
  await expect
    .poll(async () => (await podsOf()).map(({ metadata }) => metadata.name))
    .toEqual([`server-${served.instanceId}`]);
  expect((await handle.exited).reason).toBe("platform-ended");
  // A server that runs belongs to no build.
  expect(await served.isAlive()).toBe(true);
});

describe("how a server ended is distinguished", () => {
  test("RUN-1 too much memory", async () => {
    const handle = await startedBy(open(), instanceOf("serve"));
    await get(handle.endpoint, "/allocate/512");
    expect((await handle.exited).reason).toBe("out-of-memory");
  });

  test("a pod that somebody deleted", async () => {
    const { lines, onOutput } = collect();
    const handle = await startedBy(open(), instanceOf("serve"), onOutput);
    await cluster.kubectl("-n", rig.namespace, "delete", "pods", "--all", "--grace-period=1");
    expect((await handle.exited).reason).toBe("platform-ended");
    expect(lines).toContain("stderr: The server's pod was deleted.");
  });

  test("an image that can't be had, and a quota", async () => {
    const without = open({ image: "towpath.test/missing:1" });
    // Nor can the pod that looks for Pythons start.
    await expect(startedBy(without, instanceOf("serve"))).rejects.toThrow(
      /image of servers can't be had.*ErrImageNeverPull/,
    );
    const quota = {
      kind: "ResourceQuota",
      apiVersion: "v1",
      metadata: { name: "none" },
      spec: { hard: { pods: "0" } },
    };
    const driver = open();
    await driver.host.pythons.list();
    await cluster.create(rig.namespace, quota);
    try {
      await expect
        .poll(() => startedBy(driver, instanceOf("serve")).catch((error: Error) => error.message))
        .toMatch("The cluster has no room for it: the quota of its namespace is used up.");
    } finally {
      await cluster.kubectl("-n", rig.namespace, "delete", "resourcequota", "none");
    }
  });
});

test("RUN-1 a pod of servers has the protections that it reports, and reads nothing of the cluster", async () => {
  const { checks, trusted, problems } = await open().host.selfTest();
  // This cluster enforces no network policies.
  expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["network policies"]);
  expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(["capabilities", "no token", "system calls"]));
  expect(trusted).toBe(true);
  expect(problems).toEqual([expect.stringContaining("the cloud's metadata (169.254.169.254:80)")]);
});

test("RUN-7 the pods and Secrets of servers are what the restricted level allows, and go together", async () => {
  // The admission plug-in refuses pods of another level.
  await cluster.kubectl("label", "namespace", rig.namespace, "pod-security.kubernetes.io/enforce=restricted");
  const handle = await startedBy(open(), { ...instanceOf("serve"), memo: "m" });
  expect((await api.list("secrets", { "towpath.dev/role": "server" })).items).toHaveLength(1);
  await handle.stop(100);
  await expect.poll(async () => (await api.list("secrets", { "towpath.dev/role": "server" })).items).toEqual([]);
});
