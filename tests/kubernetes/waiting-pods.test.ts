import { connect } from "node:tls";
import {
  collect,
  connectionOf,
  instanceOf,
  KubernetesApi,
  openClusterDriver,
  type RuntimeDriver,
  startedBy,
  tinyServer,
} from "@towpath/runtime/testing/cluster";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { clusterOf } from "./cluster.ts";
import { openServersRig, type ServersRig } from "./servers-rig.ts";
import { deployWaitingPods, testWaitingKey, untilWaiting, waitingPods } from "./waiting-pool.ts";

// Servers that start in pods that wait (decision 073), some of which have imported (077). Each test leaves two that wait.

const cluster = clusterOf(inject("clusterDirectory"));
const directory = inject("clusterDirectory");
let rig: ServersRig;
let api: KubernetesApi;
const opened: RuntimeDriver[] = [];

beforeAll(async () => {
  rig = await openServersRig(cluster, directory);
  api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }), rig.namespace);
  await cluster.kubectl("label", "namespace", rig.namespace, "pod-security.kubernetes.io/enforce=restricted");
  const settings = { TOWPATH_SERVER_MEMORY_MIB: "128", TOWPATH_SERVER_TMP_MIB: "1" };
  const { image } = rig.settings(directory).pods;
  await deployWaitingPods(cluster, { namespace: rig.namespace, image, replicas: 2, settings });
  // The first runner makes the key for which the pods wait.
  await open().servers.adopt(async () => null);
  await untilWaiting(cluster, rig.namespace, 2);
}, 900_000);
afterEach(async () => {
  await Promise.all(opened.splice(0).map((driver) => driver.close()));
  await untilWaiting(cluster, rig.namespace, 2);
});
afterAll(async () => {
  await api.close();
  await rig.close();
});

/** Without a key it uses no pod that waits. */
function open(key: Uint8Array | null = testWaitingKey): RuntimeDriver {
  const role = { kind: "servers", identity: rig.identity, adoptWithinMs: 0, onSuperseded: () => {} } as const;
  const settings = { ...rig.settings(directory), waitingKey: key, prewarmedPods: 1 };
  const driver = rig.withRealLayers(openClusterDriver(settings, rig.layers, role));
  opened.push(driver);
  return driver;
}
/** As most are. */
const instance = (mode: Parameters<typeof instanceOf>[0], change: Parameters<typeof instanceOf>[1] = {}) =>
  instanceOf(mode, { network: "internet", ...change });
const podOf = async (instanceId: string) =>
  (await api.list("pods", { "towpath.dev/role": "server" })).items.find(
    ({ metadata }) => metadata.labels?.["towpath.dev/instance"] === instanceId,
  );
const names = async () => (await waitingPods(cluster, rig.namespace)).map(({ name }) => name);

test("RUN-7 RUN-3 a pod that waits becomes a server like any other, once, and another one takes its place", async () => {
  const driver = open();
  const before = await names();
  const { lines, onOutput } = collect();
  const environment = { ...tinyServer.server("serve").environment, TOKEN: "a 'b' $HOME" };
  const result = await driver.servers.start(instance("serve", { environment }), onOutput);
  if (!result.ok) throw new Error("did not start");
  const { handle, pool } = result;
  expect(pool).toBe("used");
  const pod = await podOf(handle.instanceId);
  expect(before).toContain(pod?.metadata.name);
  expect(pod?.metadata.ownerReferences).toBeUndefined();
  const own = await startedBy(open(null), instance("serve", { environment, network: "none" }));
  const [pooled, usual] = (
    await Promise.all([handle, own].map(({ endpoint }) => tinyServer.get(endpoint, "/environment")))
  ).map((text) => ({ ...JSON.parse(text ?? "{}"), HOSTNAME: "" }));
  expect(pooled).toMatchObject(environment);
  expect(pooled).toEqual(usual);
  expect(await tinyServer.get(handle.endpoint, "/code")).toBe('["server.py"]');
  // Nothing that the pod knew the runner by is there for the server.
  const seen = await cluster.kubectl(
    ...["-n", rig.namespace, "exec", pod?.metadata.name ?? "", "-c=server", "--", "sh", "-c"],
    "ls /run/towpath-start /run; cat /proc/[0-9]*/cmdline | tr '\\0' ' '",
  );
  expect(seen).not.toMatch(/towpath-waiting|start\.json|towpath_pod\.wait/);
  const beside = await cluster.kubectl(
    ...["-n", rig.namespace, "exec", pod?.metadata.name ?? "", "-c=fetch", "--", "sh", "-c"],
    "cat /proc/1/cmdline | tr '\\0' ' '",
  );
  expect(beside).toMatch(/^sh -c .*sleep infinity/);
  expect((await handle.stop(2000)).reason).toBe("stopped");
  expect(lines).toContain("stdout: starting in mode serve");
});

test("RUN-7 a server with other limits, another network or data gets a pod of its own, as when none waits", async () => {
  const driver = open();
  const before = await names();
  const poolOf = async (change: Parameters<typeof instanceOf>[1]) => {
    const result = await driver.servers.start(instance("serve", change), () => {});
    if (!result.ok) throw new Error("did not start");
    await result.handle.stop(100);
    return result.pool;
  };
  const { limits } = tinyServer.server("serve");
  expect(await poolOf({ limits: { ...limits, memoryBytes: 2 * limits.memoryBytes } })).toBe("unsuitable");
  expect(await poolOf({ network: "none" })).toBe("unsuitable");
  expect(await poolOf({ dataVolume: "019a0000-0000-7000-8000-000000000001" })).toBe("unsuitable");
  expect(await names()).toEqual(before);
  // Two wait, and three starts at once don't get the same one.
  const three = await Promise.all([1, 2, 3].map(() => driver.servers.start(instance("serve"), () => {})));
  expect(three.map((result) => (result.ok ? result.pool : "not started")).toSorted()).toEqual([
    "drained",
    "used",
    "used",
  ]);
});

test("RUN-7 a pod that can't be trusted gets nothing: the server gets one of its own", async () => {
  const { lines, onOutput } = collect();
  const driver = open();
  await startedBy(driver, instance("serve"));
  // Pods that somebody else gave a key.
  const giveKey = async (key: Uint8Array) => {
    await api.patch("secrets", "towpath-waiting", { stringData: { key: Buffer.from(key).toString("base64") } });
    await cluster.kubectl("-n", rig.namespace, "delete", "pods", "-l=towpath.dev/role=waiting", "--grace-period=1");
    await untilWaiting(cluster, rig.namespace, 2);
  };
  await giveKey(Buffer.alloc(32));
  const result = await driver.servers.start(instance("serve"), onOutput);
  expect(result).toMatchObject({ ok: true, pool: "failed" });
  expect(lines[0]).toMatch(/^stderr: A waiting pod could not be used, so the server gets one of its own: What answers/);
  await expect.poll(() => lines).toContain("stdout: starting in mode serve");
  // The next runner makes it the key that is derived from the instance's secret.
  await open().servers.adopt(async () => null);
  await expect
    .poll(async () => {
      const { items } = await api.list("secrets", { "towpath.dev/role": "waiting" });
      return Buffer.from(items[0]?.data?.key ?? "", "base64").toString();
    })
    .toBe(Buffer.from(testWaitingKey).toString("base64"));
  await cluster.kubectl("-n", rig.namespace, "delete", "pods", "-l=towpath.dev/role=waiting", "--grace-period=1");
});

test("RUN-8 the next runner ends a pod that was taken but not given to a server, and takes over one that was", async () => {
  const first = open();
  const spec = { ...instance("serve"), memo: "what the next one must know" };
  const { endpoint } = await startedBy(first, spec);
  await untilWaiting(cluster, rig.namespace, 1);
  const [taken = ""] = await names();
  const labels = {
    "towpath.dev/role": "server",
    "towpath.dev/owner": rig.identity.id,
    "towpath.dev/instance": "019a0000-0000-7000-8000-00000000000f",
  };
  await api.patch("pods", taken, { metadata: { labels } });
  const adopted = await open().servers.adopt(async ({ instanceId }) =>
    instanceId === spec.instanceId ? { onOutput: () => {}, last: {} } : null,
  );
  expect(adopted.map(({ handle }) => handle.endpoint)).toEqual([endpoint]);
  await expect.poll(() => api.get("pods", taken), { timeout: 20_000 }).toBeNull();
  expect((await adopted[0]?.handle.stop(100))?.reason).toBe("stopped");
});

test("RUN-1 how a server ends in a pod that waited is distinguished, and it does not run again", async () => {
  const driver = open();
  const [crashing, greedy] = await Promise.all([1, 2].map(() => startedBy(driver, instance("serve"))));
  void tinyServer.get(greedy?.endpoint, "/allocate/512");
  void tinyServer.get(crashing?.endpoint, "/crash");
  expect((await greedy?.exited)?.reason).toBe("out-of-memory");
  expect(await crashing?.exited).toEqual({ reason: "exited", code: 3, signal: null });
  await expect.poll(() => podOf(crashing?.instanceId ?? ""), { timeout: 20_000 }).toBeUndefined();
  await untilWaiting(cluster, rig.namespace, 2);
  expect(await driver.servers.start(instance("fail"), () => {})).toMatchObject({
    ok: false,
    cause: "harness",
    status: { code: "module_missing", module: "nowhere" },
  });
});

test("RUN-1 a server in a pod that waited may start as many processes as any, and disturbs no other with its user", async () => {
  const driver = open();
  const [full, other] = await Promise.all([startedBy(driver, instance("serve")), startedBy(driver, instance("serve"))]);
  const podName = (await podOf(full.instanceId))?.metadata.name ?? "";
  // It may have 32. The processes are started more slowly than they are counted.
  const starting = "for i in $(seq 60); do sleep 10 & sleep 0.05; done";
  const inPod = ["-n", rig.namespace, "exec", podName, "-c=server", "--", "sh", "-c", starting];
  await expect(cluster.kubectl(...inPod)).rejects.toThrow(/Cannot fork/);
  // It serves each call by a thread of its own.
  expect(await tinyServer.get(other.endpoint)).toMatch(/^hello/);
});

test("RUN-7 who does not know the key gets nothing from a pod that waits", async () => {
  const [name = ""] = await names();
  const pod = await api.get("pods", name);
  const socket = connect({ host: pod?.status?.podIP ?? "", port: 8001, rejectUnauthorized: false });
  const answers: string[] = [];
  socket.on("data", (chunk) => answers.push(String(chunk)));
  socket.write(`${JSON.stringify({ nonce: "n" })}\n`);
  await expect.poll(() => answers.join("")).toContain("proof");
  socket.write(`${JSON.stringify({ proof: "0".repeat(64), layers: [], start: {} })}\n`);
  await new Promise((resolve) => socket.once("close", resolve));
  expect(answers.join("")).not.toContain("{}");
  expect(await names()).toContain(name);
});

/** An interpreter for servers of `org-1`. */
async function prewarm(driver: RuntimeDriver) {
  const { layers, pythonVersion, limits } = tinyServer.server("serve");
  const result = await driver.servers.prewarm({
    organizationId: "org-1",
    dependencies: layers.dependencies,
    pythonVersion,
    network: "internet",
    limits: { ...limits, cpus: limits.cpus / 2 },
    startTimeoutMs: 10_000,
  });
  if (!result.ok) throw new Error(result.reason);
  const { items } = await api.list("pods", { "towpath.dev/organization": "org-1" });
  expect(items).toHaveLength(1);
  return { prewarmed: result.prewarmed, pod: items[0]?.metadata.name ?? "" };
}
const inServer = (pod: string, command: string) =>
  cluster.kubectl("-n", rig.namespace, "exec", pod, "-c=server", "--", "sh", "-c", command);

test("RUN-7 RUN-3 RUN-1 a pod that waits imports for one organization, then becomes a server of that, once", async () => {
  const driver = open();
  const before = await names();
  const { prewarmed, pod } = await prewarm(driver);
  expect(before).toContain(pod);
  // All of it is stopped: the tiny server has a thread that is always busy.
  const seen = await inServer(pod, "cat /proc/[0-9]*/stat; ls /run /run/towpath-start");
  expect(seen).toMatch(/\(python3?[^)]*\) T /);
  expect(seen).not.toMatch(/towpath-waiting|start\.json/);
  const { lines, onOutput } = collect();
  const environment = { ...tinyServer.server("serve").environment, TOKEN: "a 'b' $HOME" };
  const spec = { ...instance("serve", { environment }), memo: "what the next runner must know" };
  const invalid = { code: "invalid_spec" };
  await expect(prewarmed.claim("org-2", spec, onOutput)).rejects.toMatchObject(invalid);
  const layers = { ...spec.server.layers, dependencies: "e".repeat(64) };
  const other = { ...spec, server: { ...spec.server, layers } };
  await expect(prewarmed.claim("org-1", other, onOutput)).rejects.toMatchObject(invalid);
  const result = await prewarmed.claim("org-1", spec, onOutput);
  if (!("ok" in result) || !result.ok) throw new Error(`did not start: ${JSON.stringify(result)}`);
  expect(result).toMatchObject({ pool: "used", prewarm: "used" });
  expect((await podOf(spec.instanceId))?.metadata).toMatchObject({ name: pod });
  expect((await api.list("pods", { "towpath.dev/organization": "org-1" })).items).toEqual([]);
  const own = await startedBy(open(null), instance("serve", { environment, network: "none" }));
  const [claimed, usual] = (
    await Promise.all([result.handle, own].map(({ endpoint }) => tinyServer.get(endpoint, "/environment")))
  ).map((text) => ({ ...JSON.parse(text ?? "{}"), HOSTNAME: "" }));
  expect(claimed).toEqual(usual);
  expect(await tinyServer.get(result.handle.endpoint, "/code")).toBe('["server.py"]');
  await expect.poll(() => lines).toEqual(["stdout: prewarming", "stdout: starting in mode serve"]);
  await expect(prewarmed.claim("org-1", spec, onOutput)).rejects.toMatchObject(invalid);
  await prewarmed.end();
  expect(await result.handle.isAlive()).toBe(true);
  // The next runner takes it over like any other.
  const adopted = await open().servers.adopt(async ({ memo }) =>
    memo === spec.memo ? { onOutput: () => {}, last: {} } : null,
  );
  expect(adopted.map(({ handle }) => handle.endpoint)).toEqual([result.handle.endpoint]);
  expect((await result.handle.stop(1000)).reason).toBe("stopped");
  await prewarmed.ended;
});

test("RUN-8 RUN-3 a pod with an interpreter ends when nobody needs it, and with the runner that knew it", async () => {
  const { prewarmed, pod } = await prewarm(open());
  await prewarmed.end();
  await expect.poll(() => api.get("pods", pod), { timeout: 20_000 }).toBeNull();
  await untilWaiting(cluster, rig.namespace, 2);
  const { pod: left } = await prewarm(open());
  expect(await open().servers.adopt(async () => null)).toEqual([]);
  await expect.poll(() => api.get("pods", left), { timeout: 20_000 }).toBeNull();
});

test("RUN-3 an interpreter whose pod is gone, or that doesn't fit any more, says so: the server starts as usual", async () => {
  const { prewarmed, pod } = await prewarm(open());
  await cluster.kubectl("-n", rig.namespace, "delete", "pod", pod, "--grace-period=1");
  await prewarmed.ended;
  expect(await prewarmed.claim("org-1", instance("serve"), () => {})).toEqual({ obstacle: "ended" });
  await untilWaiting(cluster, rig.namespace, 2);
  const { prewarmed: other } = await prewarm(open());
  const { limits } = tinyServer.server("serve");
  const larger = instance("serve", { limits: { ...limits, memoryBytes: 2 * limits.memoryBytes } });
  expect(await other.claim("org-1", larger, () => {})).toEqual({ obstacle: "ended" });
  await other.ended;
});
