import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ClusterSettings,
  claimLease,
  connectionOf,
  type InstanceSpec,
  KubernetesApi,
  type RunnerIdentity,
  type RuntimeDriver,
  tinyServer,
} from "@towpath/runtime/testing/cluster";
import { type Cluster, nodeAddress } from "./cluster.ts";
import { type PodLayers, servePodLayers } from "./pod-layers.ts";
import { buildah, builtServersImage, importServersImage } from "./servers-image.ts";

export type ServersRig = {
  /** Of the runner that has the lease of the namespace: drivers with another one change nothing. */
  readonly identity: RunnerIdentity;
  readonly namespace: string;
  readonly layers: PodLayers;
  settings(dataDirectory: string, change?: Partial<ClusterSettings["pods"]>): ClusterSettings;
  /** A driver for which the contract's layers are those that pods get here. */
  withRealLayers(driver: RuntimeDriver): RuntimeDriver;
  close(): Promise<void>;
};

const volumes = ["1", "2", "3", "4", "5"];

/** A namespace of its own, volumes of the node for servers' data, and layers of the tiny server. */
export async function openServersRig(cluster: Cluster, parent: string): Promise<ServersRig> {
  const directory = await mkdtemp(join(parent, "servers-"));
  await chmod(directory, 0o755);
  const image = await importTinyImage(cluster, directory);
  const namespace = `servers-${randomBytes(4).toString("hex")}`;
  await cluster.createNamespace(namespace);
  for (const name of volumes) await makeVolume(cluster, namespace, name, join(directory, `volume-${name}`));
  const api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }), namespace);
  const identity = await claimLease(api).finally(() => api.close());
  const layers = await servePodLayers(await tinyServer.layers(join(directory, "layers")), nodeAddress);
  return {
    identity,
    namespace,
    layers,
    settings: (dataDirectory, change = {}) => ({
      api: { kind: "kubeconfig", path: cluster.kubeconfig },
      namespace,
      pods: {
        image,
        imagePullPolicy: "Never",
        pullSecrets: [],
        runtimeClass: null,
        storageClass: namespace,
        ...change,
      },
      leaderService: null,
      waitingKey: null,
      prewarmedPods: 0,
      network: { targets: [], isRequired: false },
      cache: { storageClass: namespace, accessMode: "ReadWriteOnce", bytes: 2 ** 28 },
      dataBytes: 16 * 1024 ** 2,
      dataDirectory,
      runDirectory: dataDirectory,
      buildEnvironment: { UV_OFFLINE: "1" },
    }),
    withRealLayers: (driver) => {
      const { servers } = driver;
      const real = (digest: string) => layers.digests[digest] ?? digest;
      const withReal = (spec: InstanceSpec): InstanceSpec => {
        const { dependencies, code } = spec.server.layers;
        return { ...spec, server: { ...spec.server, layers: { dependencies: real(dependencies), code: real(code) } } };
      };
      return {
        ...driver,
        servers: {
          start: (spec, onOutput) => servers.start(withReal(spec), onOutput),
          prewarm: async (spec) => {
            const result = await servers.prewarm({ ...spec, dependencies: real(spec.dependencies) });
            if (!result.ok) return result;
            const { prewarmed } = result;
            const claim: typeof prewarmed.claim = (organizationId, instance, onOutput) =>
              prewarmed.claim(organizationId, withReal(instance), onOutput);
            return { ok: true, prewarmed: { ...prewarmed, claim } };
          },
          adopt: (claim) => servers.adopt(claim),
          evictLayers: (inUse) => servers.evictLayers(inUse),
        },
      };
    },
    close: async () => {
      await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
      await cluster.kubectl("delete", "pv", `-l=test=${namespace}`, "--wait=false");
      await layers.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function makeVolume(cluster: Cluster, namespace: string, name: string, path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o777);
  await cluster.create(namespace, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `${namespace}-${name}`, labels: { test: namespace } },
    spec: {
      storageClassName: namespace,
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path, type: "Directory" },
    },
  });
}

const tinyImage = "towpath.test/tiny:1";

/** Builds the image of servers with the tiny server in place of the harness, and brings it to the cluster. */
async function importTinyImage(cluster: Cluster, directory: string): Promise<string> {
  const built = `${builtServersImage}-tiny`;
  await importServersImage(cluster, directory);
  const file = join(directory, "tiny.Dockerfile");
  await writeFile(file, `FROM ${builtServersImage}\nCOPY towpath_runner /opt/towpath/python/towpath_runner\n`);
  await buildah(
    "build",
    "--quiet",
    "--format=docker",
    "--layers",
    `--file=${file}`,
    `--tag=${built}`,
    tinyServer.directory,
  );
  const archive = join(directory, "tiny.tar");
  await buildah("push", "--quiet", built, `docker-archive:${archive}:${tinyImage}`);
  await cluster.importImages(archive);
  await rm(archive);
  return tinyImage;
}
