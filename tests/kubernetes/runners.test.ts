import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { z } from "zod";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";

const cluster = clusterOf(inject("clusterDirectory"));
const namespace = `runners-${Date.now()}`;
const kubectl = (...args: string[]) => cluster.kubectl("-n", namespace, ...args);
const started: ChildProcess[] = [];
let database: TestDatabase;
let directory = "";

beforeAll(async () => {
  directory = await mkdtemp("/tmp/tw-runners-");
  database = await createTestDatabase();
  await cluster.createNamespace(namespace);
  const spec = { ports: [{ name: "http", port: 9000 }] };
  await cluster.create(namespace, { kind: "Service", apiVersion: "v1", metadata: { name: "runner" }, spec });
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

/** The role as a pod of the chart runs it. */
function startRunner(port: number): ChildProcess {
  const own = join(directory, String(port));
  const child = spawn(process.execPath, [join(repositoryRoot, "apps/runner/src/main.ts")], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      TOWPATH_DATA_DIR: own,
      TOWPATH_RUN_DIR: own,
      TOWPATH_SECRET: "x".repeat(32),
      TOWPATH_SERVER_URL: "http://localhost/{name}",
      TOWPATH_LOG_LEVEL: "silent",
      TOWPATH_ARTIFACTS: "s3://layers",
      TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "id",
      TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "key",
      TOWPATH_RUNNER_ADDRESS: "runner:9000",
      TOWPATH_RUNNER_LISTEN: `0.0.0.0:${port}`,
      TOWPATH_DRIVER: "kubernetes",
      TOWPATH_KUBERNETES_NAMESPACE: namespace,
      TOWPATH_KUBERNETES_IMAGE: "towpath.test/pause:1",
      TOWPATH_KUBERNETES_IMAGE_PULL_POLICY: "Never",
      TOWPATH_KUBERNETES_CONFIG: cluster.kubeconfig,
      TOWPATH_KUBERNETES_RUNNER_SERVICE: `${namespace}/runner`,
      TOWPATH_KUBERNETES_POD_ADDRESS: nodeAddress,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  started.push(child);
  return child;
}

const healthAt = async (host: string, port: number) => {
  const response = await fetch(`http://${host}:${port}/healthz`, { signal: AbortSignal.timeout(1000) }).catch(
    () => null,
  );
  return response === null
    ? null
    : [response.status, z.object({ status: z.string() }).parse(await response.json()).status];
};
/** Ports of all endpoints of the Service. */
const portsOf = () =>
  kubectl("get", "endpointslices", "-l=kubernetes.io/service-name=runner", "-o=jsonpath={.items[*].ports[*].port}");

test("RUN-8 OPS-11 the Service leads to the leading runner only, at most 10 s after it was killed to the next one", async () => {
  const service = await kubectl("get", "service", "runner", "-o=jsonpath={.spec.clusterIP}");
  const behindService = () => healthAt(service, 9000);
  const first = startRunner(9101);
  const slow = { timeout: 30_000, interval: 50 };
  await expect.poll(portsOf, slow).toBe("9101");
  await expect.poll(behindService, slow).toEqual([200, "ok"]);
  const second = startRunner(9102);
  await expect.poll(() => healthAt(nodeAddress, 9102), slow).toEqual([200, "waiting"]);
  expect(await portsOf()).toBe("9101");
  first.kill("SIGKILL");
  const killedAt = performance.now();
  await expect.poll(behindService, slow).toEqual([200, "ok"]);
  const tookMs = performance.now() - killedAt;
  process.stdout.write(`The Service led to the next runner ${Math.round(tookMs)} ms after the leader was killed.\n`);
  expect(await portsOf()).toBe("9102");
  expect(await kubectl("get", "lease", "towpath-runner", "-o=jsonpath={.spec.leaseTransitions}")).toBe("1");
  expect(tookMs).toBeLessThan(10_000);
  // One that ends properly leads nobody to itself any more, and gives the lease up.
  second.kill("SIGTERM");
  await expect.poll(portsOf, slow).toBe("");
  await expect
    .poll(() => kubectl("get", "lease", "towpath-runner", "-o=jsonpath={.spec.holderIdentity}"), slow)
    .toBe("");
  startRunner(9103);
  await expect.poll(behindService, slow).toEqual([200, "ok"]);
});

test("RUN-8 an EndpointSlice that somebody deleted comes again, and goes with its Service", async () => {
  await kubectl("delete", "endpointslice", "runner-leader");
  await expect.poll(portsOf, { timeout: 15_000 }).toBe("9103");
  await kubectl("delete", "service", "runner");
  await expect.poll(portsOf, { timeout: 15_000 }).toBe("");
});
