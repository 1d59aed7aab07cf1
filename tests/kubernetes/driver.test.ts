import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { driverContract, KubernetesApi, openKubernetesDriver, tinyServer } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, inject } from "vitest";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { type PodLayers, servePodLayers } from "./pod-layers.ts";

const cluster = clusterOf(inject("clusterDirectory"));
const namespace = "dev-d";
let layers: PodLayers;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(inject("clusterDirectory"), "driver-"));
  layers = await servePodLayers(await tinyServer.layers(join(directory, "layers"), "/usr/bin/python3"), nodeAddress);
  await chmod(directory, 0o755);
  for (const name of ["1", "2", "3"]) {
    const path = join(directory, `volume-${name}`);
    await mkdir(path);
    await chmod(path, 0o777);
    await cluster.create(namespace, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `${namespace}-data-${process.pid}-${name}`, labels: { test: "driver" } },
      spec: {
        storageClassName: "test-data",
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path, type: "Directory" },
      },
    });
  }
});
afterAll(async () => {
  await cluster.kubectl("delete", "pv", "-l=test=driver", "--wait=false");
  await layers.close();
  await rm(directory, { recursive: true, force: true });
});

driverContract("kubernetes", ["lastingData"], (own) => {
  const settings = {
    api: { kind: "kubeconfig" as const, path: cluster.kubeconfig },
    namespace,
    pods: {
      image: "towpath.test/servers:d",
      imagePullPolicy: "Never" as const,
      runtimeClass: null,
      storageClass: "test-data",
    },
    cache: null,
    dataBytes: 16 * 1024 ** 2,
    dataDirectory: own,
    runDirectory: own,
    buildEnvironment: {},
  };
  const remote = { address: (digest: string) => layers.address(digest), receive: () => Promise.reject(new Error()) };
  const role = {
    kind: "servers" as const,
    identity: { id: randomUUID(), generation: 1 },
    adoptWithinMs: 0,
    onSuperseded: () => {},
  };
  const driver = openKubernetesDriver(settings, remote, role, () => ({}) as never);
  return {
    ...driver,
    servers: {
      ...driver.servers,
      prewarm: (spec) => driver.servers.prewarm(spec),
      start: (spec, onOutput) => {
        const { dependencies, code } = spec.server.layers;
        const real = (digest: string) => layers.digests[digest] ?? digest;
        const server = { ...spec.server, layers: { dependencies: real(dependencies), code: real(code) } };
        return driver.servers.start({ ...spec, server }, onOutput);
      },
    },
  };
});
void KubernetesApi;
