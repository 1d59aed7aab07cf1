import type { Affinity } from "kubernetes-types/core/v1.js";
import {
  dataPath,
  harnessCommand,
  homeEnvironment,
  layerPath,
  runtimeDirectory,
  serverHome,
  statusName,
} from "../../harness-command.ts";
import { codePath, dependencyPath } from "../../port/builds.ts";
import type { InstanceSpec, PrewarmSpec } from "../../port/servers.ts";
import type { New, Stored } from "../api/objects.ts";
import type { PodSettings } from "../config.ts";
import { labels, managedBy } from "./labels.ts";
import { containerOf, mebibyte, mount, podOf, podProgram, processors, quantity, scratch } from "./parts.ts";
import { userOf } from "./restricted.ts";

/** Where a server listens in its pod. */
export const serverPort = 8000;
/** The container that runs the server; the other one gets its layers, and ends before the server starts. */
export const serverContainer = "server";
export const fetchContainer = "fetch";

/** Used by the platform's program beside the server. */
const ownBytes = 24 * mebibyte;
/** More than most servers use after their start: what a pod is placed by. */
const typicalBytes = 128 * mebibyte;
const typicalCpus = 0.1;
/** For unpacking. It counts for the pod's place as long as the pod lives, so little is requested. */
const fetchBytes = { requested: 16 * mebibyte, most: 256 * mebibyte };
const fetchCpus = 0.01;
/** Each layer, unpacked. */
const layerBytes = 8 * 1024 * mebibyte;
const startBytes = 8 * mebibyte;
/** For the server's status and its stacks. */
const runtimeBytes = 4 * mebibyte;

/** In the image. */
const harnessDirectory = "/opt/towpath/python";
const secretDirectory = "/run/towpath-secret";
const startDirectory = "/run/towpath-start";

const serverName = (instanceId: string): string => `server-${instanceId}`;
export const dataClaimName = (volumeId: string): string => `data-${volumeId}`;

export type PodOwner = {
  /** Value of the label `owner`. */
  readonly id: string;
  /** Kubernetes ends the pod after so long; null: nobody but its owner does. */
  readonly lifetimeMs: number | null;
};

/** The pod of a server; it waits for its Secret. Pure. */
export function serverPod(spec: InstanceSpec, owner: PodOwner, settings: PodSettings): New<"pods"> {
  const { instanceId, server } = spec;
  const { limits, dataVolume, network } = server;
  const user = userOf(dataVolume === undefined ? instanceId : `data:${dataVolume}`);
  const name = serverName(instanceId);
  const inMemory = {
    tmp: "/tmp",
    home: serverHome,
    code: codePath,
    ...(dataVolume === undefined && { data: dataPath }),
  };
  return {
    metadata: {
      name,
      labels: {
        ...managedBy,
        [labels.role]: "server",
        [labels.owner]: owner.id,
        [labels.instance]: instanceId,
        [labels.network]: network,
        ...(spec.buildId !== undefined && { [labels.build]: spec.buildId }),
        ...(dataVolume !== undefined && { [labels.data]: dataVolume }),
      },
    },
    spec: {
      ...podOf(settings, user),
      ...(owner.lifetimeMs !== null && { activeDeadlineSeconds: Math.ceil(owner.lifetimeMs / 1000) }),
      terminationGracePeriodSeconds: 10,
      ...(dataVolume !== undefined && { affinity: besideOthersOf(dataVolume) }),
      // Both start at once, since the kubelet notices an end only a second later: the server waits for the other's hand-over.
      containers: [
        containerOf(settings, {
          name: fetchContainer,
          command: podProgram("fetch"),
          resources: {
            requests: { cpu: processors(fetchCpus), memory: quantity(fetchBytes.requested) },
            limits: { cpu: processors(Math.max(1, limits.cpus)), memory: quantity(fetchBytes.most) },
          },
          volumeMounts: [
            mount("secret", secretDirectory, { readOnly: true }),
            mount("start", startDirectory),
            mount("dependencies", "/layers/dependencies"),
            mount("layer", "/layers/code"),
          ],
        }),
        containerOf(settings, {
          name: serverContainer,
          command: podProgram("serve"),
          ports: [{ name: "mcp", containerPort: serverPort }],
          resources: {
            requests: {
              cpu: processors(Math.min(typicalCpus, limits.cpus)),
              memory: quantity(Math.min(typicalBytes, limits.memoryBytes) + ownBytes),
            },
            limits: { cpu: processors(limits.cpus), memory: quantity(limits.memoryBytes + ownBytes) },
          },
          volumeMounts: [
            mount("start", startDirectory),
            mount("dependencies", dependencyPath, { readOnly: true }),
            mount("layer", layerPath, { readOnly: true }),
            mount("run", runtimeDirectory),
            ...Object.entries(inMemory).map(([volume, path]) => mount(volume, path)),
            ...(dataVolume === undefined ? [] : [mount("data", dataPath)]),
          ],
        }),
      ],
      volumes: [
        // Only these: the memo isn't for the pod.
        {
          name: "secret",
          secret: { secretName: name, items: ["layers.json", "start.json"].map((key) => ({ key, path: key })) },
        },
        scratch("start", startBytes, "Memory"),
        scratch("dependencies", layerBytes, "disk"),
        scratch("layer", layerBytes, "disk"),
        scratch("run", runtimeBytes, "Memory"),
        ...Object.keys(inMemory).map((volume) => scratch(volume, limits.tmpBytes, "Memory")),
        ...(dataVolume === undefined
          ? []
          : [{ name: "data", persistentVolumeClaim: { claimName: dataClaimName(dataVolume) } }]),
      ],
    },
  };
}

/** The pod of an interpreter that waits for a server of an organization, as `serverPod` would make it for that. Pure. */
export function prewarmedPod(spec: PrewarmSpec, owner: PodOwner, settings: PodSettings): New<"pods"> {
  const pod = serverPod({ instanceId: "", startTimeoutMs: 0, server: serverOf(spec) }, owner, settings);
  const { [labels.instance]: _, ...kept } = pod.metadata.labels ?? {};
  const own = { [labels.organization]: spec.organizationId, [labels.prewarmed]: spec.dependencies.slice(0, 40) };
  return { ...pod, metadata: { ...pod.metadata, labels: { ...kept, ...own } } };
}

const serverOf = ({ dependencies, pythonVersion, network, limits }: PrewarmSpec): InstanceSpec["server"] => ({
  layers: { dependencies, code: "" },
  pythonVersion,
  entrypoint: "",
  environment: {},
  network,
  limits,
});

/** A claim that one node may use at a time: all pods that use it run there. */
const besideOthersOf = (dataVolume: string): Affinity => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { [labels.data]: dataVolume } } },
    ],
  },
});

export type LayerAddress = {
  readonly url: string;
  readonly directory: string;
  readonly digest: string;
  /** The directory in it that has most of its files: see fetch.py. */
  readonly spread?: string;
};

/** What the pod of a server waits for. */
export type Given = { readonly secret: string; readonly layers: readonly LayerAddress[] };

/**
 * What the pod of a server waits for, and the next runner needs; it is deleted with the pod. Pure.
 *
 * @param handedOver whether the pod gets it by other means, so that only the next runner's part is stored
 */
export function serverSecret(
  spec: InstanceSpec,
  pod: Stored<"pods">,
  { secret, layers }: Given,
  handedOver: boolean,
): New<"secrets"> {
  const { name, uid } = pod.metadata;
  return {
    metadata: {
      name,
      labels: { ...managedBy, ...pod.metadata.labels },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    immutable: true,
    stringData: {
      ...(!handedOver && {
        "start.json": JSON.stringify(serverStart(spec, secret, { sharesUser: false })),
        "layers.json": JSON.stringify(layers),
      }),
      secret,
      memo: spec.memo ?? "",
    },
  };
}

/**
 * For python/towpath_pod, `serve`. Pure.
 *
 * @param options.sharesUser whether other pods have the same user, for whom the kernel would count their processes together
 */
export function serverStart(
  { server, startTimeoutMs }: InstanceSpec,
  secret: string,
  { sharesUser }: { readonly sharesUser: boolean },
) {
  const { argv, env } = harnessCommand(server, { listen, harness: harnessDirectory, startTimeoutMs });
  return {
    argv,
    environment: env,
    ...places,
    ...(server.dataVolume !== undefined && { data: dataPath }),
    port: serverPort,
    secret,
    startSeconds: startTimeoutMs / 1000,
    limits: limitsOf(server, sharesUser),
  };
}

/** The same for an interpreter that imports and waits, in a pod that has waited. Pure. */
export function prewarmStart(spec: PrewarmSpec) {
  const server = serverOf(spec);
  const { argv, env } = harnessCommand(server, { listen, harness: harnessDirectory });
  return {
    argv: [argv[0], "-m", "towpath_runner", "--prewarm-status", places.status],
    environment: env,
    ...places,
    prewarm: true,
    limits: limitsOf(server, true),
  };
}

/** Makes such an interpreter the server. Pure. */
export function claimStart(spec: InstanceSpec, secret: string) {
  const { argv, environment: env, ...start } = serverStart(spec, secret, { sharesUser: true });
  return { ...start, claim: { env, arguments: argv.slice(["python", "-m", "towpath_runner"].length), secret } };
}

const listen = `0.0.0.0:${serverPort}`;

const places = {
  directory: codePath,
  makeDirectories: Object.values(homeEnvironment),
  status: `${runtimeDirectory}/${statusName}`,
};

const limitsOf = ({ limits: { processes, fileBytes } }: InstanceSpec["server"], sharesUser: boolean) => ({
  processes,
  sharesUser,
  ...(fileBytes !== undefined && { fileBytes }),
});
