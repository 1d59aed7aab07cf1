import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { artifactsConfigSchema, openArtifacts } from "@towpath/artifacts";
import { createBuilder } from "@towpath/builder";
import { repository, requestOf } from "@towpath/builder/testing";
import { openTestDatabase } from "@towpath/db/testing";
import { createSandboxDriver, pickBuildEnvironment, strictIsolation, tinyServer } from "@towpath/runtime/testing";
import { claimLease, connectionOf, KubernetesApi, openClusterDriver } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { auditMark, changesSince } from "./audit-log.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { openPlainDeployment } from "./plain-deployment.ts";
import { importServersImage } from "./servers-image.ts";
import { deployWaitingPods, testWaitingKey, untilWaiting } from "./waiting-pool.ts";

// From stopped to answering, five ways, on one cluster with one server of the MCP SDK, by turns.

/** Of each way. */
const rounds = Number(process.env.TOWPATH_WAKE_ROUNDS ?? 20);
const cluster = clusterOf(inject("clusterDirectory"));
const namespace = `wakes-${process.pid}`;
const database = openTestDatabase();
const code = `
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("Sample")

@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
`;
let directory: string;
let service: S3Service;
let api: KubernetesApi;

beforeAll(async () => {
  directory = await mkdtemp(join(inject("clusterDirectory"), "wakes-"));
  await chmod(directory, 0o755);
  service = await startVersitygw(join(directory, "buckets"), nodeAddress);
  await service.newBucket("layers");
  await cluster.createNamespace(namespace);
  api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }), namespace);
});
afterAll(async () => {
  await service?.stop();
  await api?.close();
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  await rm(directory, { recursive: true, force: true });
});

/** The value below which so many of a hundred are. */
const percentile = (values: readonly number[], percent: number) =>
  values.toSorted((one, other) => one - other)[Math.ceil((values.length * percent) / 100) - 1] ?? Number.NaN;

test("RUN-7 RUN-3 a wake from a waiting pod takes less time than a pod of its own or a scaled Deployment, least if it has imported, and two changes", async () => {
  const image = await importServersImage(cluster, directory);
  const config = artifactsConfigSchema.parse({ ...service.settings, TOWPATH_ARTIFACTS: "s3://layers" });
  const { layers, store } = openArtifacts({ db: database.db, dataDirectory: directory, config });
  const settings = {
    api: { kind: "kubeconfig", path: cluster.kubeconfig } as const,
    namespace,
    pods: { image, imagePullPolicy: "Never", pullSecrets: [], runtimeClass: null, storageClass: null } as const,
    leaderService: null,
    waitingKey: null,
    prewarmedPods: 0,
    network: { targets: [], isRequired: false },
    cache: null,
    dataBytes: 0,
    dataDirectory: directory,
    runDirectory: directory,
    buildEnvironment: pickBuildEnvironment(process.env),
  };
  const building = openClusterDriver(settings, layers.remote, { kind: "builds" });
  const builder = createBuilder(
    { defaultPython: null },
    { driver: building, layers, store, uploadedAt: async () => null },
  );
  const files = { "server.py": code, "requirements.txt": "mcp<2\n" };
  const { request, text } = requestOf({ organizationId: randomUUID(), openTarball: () => repository(files) });
  const built = await builder.build(request);
  await building.close();
  if (!built.ok) throw new Error(text());

  const identity = await claimLease(api);
  const role = { kind: "servers", identity, adoptWithinMs: 0, onSuperseded: () => {} } as const;
  const own = openClusterDriver(settings, layers.remote, role);
  const waiting = { ...settings, waitingKey: testWaitingKey, prewarmedPods: 1 };
  const pooled = openClusterDriver(waiting, layers.remote, role);
  const sandbox = createSandboxDriver({
    ...tinyServer.driverConfig(directory),
    harness: join(repositoryRoot, "python/towpath_runner"),
    stateDirectory: directory,
    layers,
    ...strictIsolation,
  });
  await pooled.servers.adopt(async () => null);
  // Each lists the Pythons of its servers at first, which takes a pod.
  for (const { host } of [own, pooled, sandbox]) await host.pythons.list();
  await deployWaitingPods(cluster, { namespace, image, replicas: 2 });
  const limits = { memoryBytes: 512 * 1024 ** 2, processes: 256, cpus: 1, tmpBytes: 256 * 1024 ** 2 };
  const { pythonVersion } = built.layers;
  const server = { layers: built.layers, pythonVersion, ...built.program, environment: {}, limits };
  type Start = (typeof own)["servers"]["start"];
  const startIn =
    (driver: typeof own): Start =>
    (...its) =>
      driver.servers.start(...its);
  /** Resolves to what ends it. */
  const started = async (start: Start, network: "internet" | "none", pool?: "used") => {
    const spec = { instanceId: randomUUID(), server: { ...server, network }, startTimeoutMs: 60_000 };
    const lines: string[] = [];
    const result = await start(spec, (_, line) => lines.push(line));
    if (!result.ok) throw new Error(JSON.stringify(result));
    expect([result.pool, ...(result.pool === pool ? [] : lines)]).toEqual([pool]);
    return result.handle;
  };
  const organizationId = randomUUID();
  /** Resolves to what claims it. */
  const prewarmed = async (): Promise<Start> => {
    const { dependencies } = server.layers;
    const spec = {
      organizationId,
      dependencies,
      pythonVersion,
      network: "internet",
      limits,
      startTimeoutMs: 60_000,
    } as const;
    const result = await pooled.servers.prewarm(spec);
    if (!result.ok) throw new Error(result.reason);
    return async (instance, onOutput) => {
      const claimed = await result.prewarmed.claim(organizationId, instance, onOutput);
      expect(claimed).toMatchObject({ ok: true, prewarm: "used" });
      if ("obstacle" in claimed) throw new Error(claimed.obstacle);
      return claimed;
    };
  };
  /** Python names each file of which it runs code, compiled or not. */
  const expectNothingCompiled = async (instanceId: string) => {
    const { items } = await api.list("pods", { "towpath.dev/instance": instanceId });
    const python = "/app/.venv/bin/python -B -v -c 'import mcp.server.fastmcp, towpath_runner.serve' 2>&1";
    const pod = items[0]?.metadata.name ?? "";
    const ran = await cluster.kubectl("-n", namespace, "exec", pod, "-c=server", "--", "sh", "-c", python);
    const files = [...ran.matchAll(/^# code object from '(.*)'$/gm)].map(([, file = ""]) => file);
    expect(files.filter((file) => file.startsWith("/app/.venv")).length).toBeGreaterThan(100);
    expect(files.filter((file) => !file.endsWith(".pyc"))).toEqual([]);
  };
  const first = await started(startIn(own), "internet");
  const plain = await openPlainDeployment(cluster, api, `server-${first.instanceId}`);
  const ms: Record<string, number[]> = {};
  const changes: Record<string, Set<string>> = {};
  /** Times a start, and counts its changes. */
  const measured = async <Result>(way: string, start: () => Promise<Result>): Promise<Result> => {
    const mark = await auditMark(cluster);
    const begun = performance.now();
    const result = await start();
    ms[way] = [...(ms[way] ?? []), performance.now() - begun];
    changes[way] = (changes[way] ?? new Set()).add(
      (await changesSince(cluster, namespace, mark)).toSorted().join(", "),
    );
    return result;
  };
  let previous = first;
  for (let round = 0; round < rounds; round++) {
    await plain.prepare(`server-${previous.instanceId}`);
    await previous.stop(1000);
    await measured("Deployment scaled from 0 to 1", () => plain.start());
    await plain.stop();
    previous = await measured("pod of its own", () => started(startIn(own), "internet"));
    await untilWaiting(cluster, namespace, 2);
    const waited = await measured("waiting pod", () => started(startIn(pooled), "internet", "used"));
    if (round === 0) await expectNothingCompiled(waited.instanceId);
    await waited.stop(1000);
    await untilWaiting(cluster, namespace, 2);
    const claim = await measured("preparation of a waiting pod", prewarmed);
    await untilWaiting(cluster, namespace, 2);
    const ready = await measured("waiting pod, prewarmed", () => started(claim, "internet", "used"));
    await ready.stop(1000);
    const local = await measured("sandbox on this machine", () => started(startIn(sandbox), "none"));
    await local.stop(1000);
  }
  await previous.stop(1000);
  await Promise.all([own, pooled, sandbox].map((driver) => driver.close()));
  const rows = Object.entries(ms).map(([way, values]) => {
    const cells = [percentile(values, 50), percentile(values, 95)].map((value) => `${Math.round(value)}`.padStart(8));
    return `${way.padEnd(32)}${cells.join("")}   ${[...(changes[way] ?? [])].join(" or ") || "none"}`;
  });
  const load = loadavg().map((each) => each.toFixed(1));
  process.stdout.write(
    `\nFrom stopped to answering, ${rounds} rounds, load ${load.join(" ")}\n${"".padEnd(32)}  p50 ms  p95 ms   changes of the cluster\n${rows.join("\n")}\n`,
  );
  const twoChanges = ["create secrets, patch pods"];
  expect([...(changes["waiting pod"] ?? [])]).toEqual(twoChanges);
  expect([...(changes["waiting pod, prewarmed"] ?? [])]).toEqual(twoChanges);
  expect([...(changes["preparation of a waiting pod"] ?? [])]).toEqual(["patch pods"]);
  expect([...(changes["pod of its own"] ?? [])]).toEqual(["create pods, create secrets"]);
  const p50 = (way: string) => percentile(ms[way] ?? [], 50);
  expect(p50("waiting pod, prewarmed")).toBeLessThan(Math.min(1000, p50("waiting pod")));
  expect(p50("waiting pod")).toBeLessThan(p50("pod of its own"));
  expect(p50("pod of its own")).toBeLessThan(p50("Deployment scaled from 0 to 1"));
}, 1_800_000);
