import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Artifacts, artifactsConfigSchema, openArtifacts } from "@towpath/artifacts";
import { openTestDatabase } from "@towpath/db/testing";
import { buildTests, connectionOf, KubernetesApi, PodBuilds } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";

const cluster = clusterOf(inject("clusterDirectory"));
const namespace = process.env.NS ?? "dev-b";
let api: KubernetesApi;
let service: S3Service;
let directory: string;
let artifacts: Artifacts;
let driver: any;
const database = openTestDatabase();
beforeAll(async () => {
  directory = await mkdtemp(join(inject("clusterDirectory"), "builds-"));
  await chmod(directory, 0o755);
  service = await startVersitygw(join(directory, "buckets"), nodeAddress);
  await service.newBucket("layers");
  const config = artifactsConfigSchema.parse({ ...service.settings, TOWPATH_ARTIFACTS: "s3://layers/of" });
  artifacts = openArtifacts({ db: database.db, dataDirectory: directory, config });
  for (const name of ["1", "2", "3", "4"]) {
    const path = join(directory, `volume-${name}`);
    await mkdir(path);
    await chmod(path, 0o777);
    await cluster.create(namespace, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `${namespace}-caches-${process.pid}-${name}`, labels: { test: "builds" } },
      spec: {
        storageClassName: "test-caches",
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path, type: "Directory" },
      },
    });
  }
  api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }), namespace);
  const builds = new PodBuilds(api, {
    pod: { image: process.env.IMG ?? "towpath.test/servers:b", imagePullPolicy: "Never", runtimeClass: null },
    cache: { storageClass: "test-caches", accessMode: "ReadWriteOnce", bytes: 2 ** 29 },
    layers: artifacts.layers.remote,
    buildEnvironment: { UV_OFFLINE: "1" },
  });
  driver = { builds, host: { pythons: { find: async () => "3.11.2" } } };
});
afterAll(async () => {
  await api?.close();
  await service?.stop();
  await cluster
    .kubectl("-n", namespace, "delete", "pods,pvc", "-l=towpath.dev/role", "--wait=false", "--grace-period=1")
    .catch(console.log);
  await cluster.kubectl("delete", "pv", "-l=test=builds", "--wait=false").catch(console.log);
  await rm(directory, { recursive: true, force: true });
});

describe("build contract: kubernetes", () => buildTests(() => driver));
