import { deriveKey } from "@towpath/crypto";
import { z } from "zod";
import { type sandboxSettings, sandboxSettingsFrom } from "../host/config.ts";
import type { ApiLocation } from "./api/connection.ts";
import type { CacheSettings } from "./build/pod-caches.ts";
import type { LeaderService } from "./leader-endpoint.ts";
import type { Target } from "./network-test.ts";

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema.optional());

/** Settings of the Kubernetes driver. */
export const kubernetesSettings = {
  /** Namespace of the pods of servers and builds, which has nothing else in it. */
  TOWPATH_KUBERNETES_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be the name of a namespace, such as towpath-servers")
    .default("towpath-servers"),
  /** Image of these pods: the target `servers` of deploy/Dockerfile, of the same release. */
  TOWPATH_KUBERNETES_IMAGE: optional(z.string().regex(/^\S+$/, "must be the name of an image, without spaces")),
  TOWPATH_KUBERNETES_IMAGE_PULL_POLICY: optional(
    z.enum(["Always", "IfNotPresent", "Never"], "must be Always, IfNotPresent or Never"),
  ),
  /** Secrets of the namespace with which nodes pull the image, comma-separated. */
  TOWPATH_KUBERNETES_IMAGE_PULL_SECRETS: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((name) => name.trim()))
    .transform((names) => names.filter((name) => name !== ""))
    .pipe(
      z.array(z.string().regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "must be names of Secrets, separated by commas")),
    ),
  /** Storage of the caches that builds of an organization share. Without it, each build downloads its packages. */
  TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS: optional(z.string()),
  /** ReadWriteMany: builds of an organization may run on several nodes at a time. */
  TOWPATH_KUBERNETES_CACHE_ACCESS_MODE: optional(
    z.enum(["ReadWriteOnce", "ReadWriteMany"], "must be ReadWriteOnce or ReadWriteMany"),
  ),
  TOWPATH_KUBERNETES_CACHE_MIB: z.coerce
    .number()
    .int()
    .min(256)
    .default(10 * 1024),
  /** Runs the pods with another container runtime, such as gVisor. */
  TOWPATH_KUBERNETES_RUNTIME_CLASS: optional(z.string()),
  /** Storage of servers' `/data`. Without it, servers that keep data don't start. */
  TOWPATH_KUBERNETES_STORAGE_CLASS: optional(z.string()),
  /** Whether servers start in pods that wait, which the chart's `tenants.waiting` makes. */
  TOWPATH_KUBERNETES_WAITING_PODS: z.enum(["yes", "no"], "must be yes or no").default("no"),
  /** How many of those that waited may hold an interpreter for servers of an organization that were used lately. */
  TOWPATH_KUBERNETES_PREWARMED_PODS: z.coerce.number().int().min(0).max(1000).default(0),
  /** Service that the leading runner makes lead to itself, where several runners wait for each other. */
  TOWPATH_KUBERNETES_RUNNER_SERVICE: optional(
    z
      .string()
      .regex(/^[a-z0-9][-a-z0-9]*\/[a-z][-a-z0-9]*$/, "must be NAMESPACE/NAME of a Service, such as towpath/runner"),
  ),
  /** The runner's own address for it. */
  TOWPATH_KUBERNETES_POD_ADDRESS: optional(z.union([z.ipv4(), z.ipv6()], "must be the IP address of the runner's pod")),
  /** `require`: no server and no build starts while pods reach what network policies should refuse. */
  TOWPATH_KUBERNETES_NETWORK_POLICIES: optional(z.enum(["warn", "require"], "must be warn or require")),
  /** Path of a kubeconfig; unset in the cluster, where the pod's service account is used. */
  TOWPATH_KUBERNETES_CONFIG: optional(z.string().startsWith("/", "must be an absolute path")),
};

export type KubernetesSettings = {
  readonly api: ApiLocation;
  readonly namespace: string;
  readonly pods: PodSettings;
  /** Null: callers find the runner by other means. */
  readonly leaderService: LeaderService | null;
  readonly network: NetworkSettings;
  /** Null: builds share no cache. */
  readonly cache: CacheSettings | null;
  /** What waiting pods know the runner by, 32 bytes; null: there are none. */
  readonly waitingKey: Uint8Array | null;
  /** How many pods may hold an interpreter that waits; 0: none does. */
  readonly prewarmedPods: number;
  /** Size of a server's `/data`. */
  readonly dataBytes: number;
  readonly dataDirectory: string;
  readonly runDirectory: string;
  /** Set for every build step. */
  readonly buildEnvironment: Readonly<Record<string, string>>;
};

type NetworkSettings = {
  /** What pods of servers must not reach, that listens wherever this process runs. */
  readonly targets: readonly Target[];
  /** Whether servers and builds are refused while they reach it. */
  readonly isRequired: boolean;
};

/** What all pods have in common. */
export type PodSettings = {
  readonly image: string;
  readonly imagePullPolicy: "Always" | "IfNotPresent" | "Never";
  /** Names of Secrets. */
  readonly pullSecrets: readonly string[];
  readonly runtimeClass: string | null;
  readonly storageClass: string | null;
};

type Values = z.output<z.ZodObject<typeof kubernetesSettings & typeof sandboxSettings>>;

/** @throws an Error that names the settings that are missing */
export function kubernetesSettingsFrom(
  values: Values,
  environment: Readonly<Record<string, string | undefined>>,
): KubernetesSettings {
  const { TOWPATH_KUBERNETES_CONFIG: path, TOWPATH_KUBERNETES_IMAGE: image } = values;
  const { TOWPATH_KUBERNETES_RUNNER_SERVICE: service, TOWPATH_KUBERNETES_POD_ADDRESS: address } = values;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  const problems: string[] = [];
  if (image === undefined)
    problems.push("TOWPATH_KUBERNETES_IMAGE: must be the image of servers and builds, if TOWPATH_DRIVER is kubernetes");
  if (service !== undefined && address === undefined)
    problems.push(
      "TOWPATH_KUBERNETES_POD_ADDRESS: must be the pod's address (status.podIP), to lead the Service to it",
    );
  if (path === undefined && (host === undefined || port === undefined))
    problems.push("TOWPATH_KUBERNETES_CONFIG: must be the path of a kubeconfig, because this process isn't in a pod");
  if (environment.TOWPATH_ARTIFACTS?.startsWith("s3://") !== true)
    problems.push("TOWPATH_ARTIFACTS: must be a bucket (s3://…), from which pods get layers");
  const usesPool = values.TOWPATH_KUBERNETES_WAITING_PODS === "yes";
  if (usesPool && !environment.TOWPATH_SECRET)
    problems.push("TOWPATH_SECRET: must be set, because waiting pods know the runner by a key that is derived from it");
  if (!usesPool && values.TOWPATH_KUBERNETES_PREWARMED_PODS > 0)
    problems.push(
      "TOWPATH_KUBERNETES_PREWARMED_PODS: must be 0 without TOWPATH_KUBERNETES_WAITING_PODS, whose pods they are",
    );
  if (problems.length > 0)
    throw new Error(`The settings of the Kubernetes driver are not valid:\n  ${problems.join("\n  ")}`);
  const { dataDirectory, runDirectory, dataBytes, buildEnvironment } = sandboxSettingsFrom(values, environment);
  return {
    api: path === undefined ? { kind: "account", host: host ?? "", port: port ?? "" } : { kind: "kubeconfig", path },
    namespace: values.TOWPATH_KUBERNETES_NAMESPACE,
    pods: {
      image: image ?? "",
      imagePullPolicy: values.TOWPATH_KUBERNETES_IMAGE_PULL_POLICY ?? "IfNotPresent",
      pullSecrets: values.TOWPATH_KUBERNETES_IMAGE_PULL_SECRETS,
      runtimeClass: values.TOWPATH_KUBERNETES_RUNTIME_CLASS ?? null,
      storageClass: values.TOWPATH_KUBERNETES_STORAGE_CLASS ?? null,
    },
    leaderService: leaderServiceFrom(service, address),
    network: {
      targets: targetsFrom(environment, address),
      isRequired: values.TOWPATH_KUBERNETES_NETWORK_POLICIES === "require",
    },
    cache: cacheSettingsFrom(values),
    waitingKey: usesPool ? deriveKey(environment.TOWPATH_SECRET ?? "", "waiting-pods").bytes : null,
    prewarmedPods: values.TOWPATH_KUBERNETES_PREWARMED_PODS,
    dataBytes,
    dataDirectory,
    runDirectory,
    buildEnvironment,
  };
}

function leaderServiceFrom(service: string | undefined, address: string | undefined): LeaderService | null {
  const [namespace = "", name = ""] = service?.split("/") ?? [];
  return name === "" || address === undefined ? null : { namespace, name, address };
}

/** The runner, as a Service and itself, by the settings of its role. */
function targetsFrom(
  { TOWPATH_RUNNER_ADDRESS: service, TOWPATH_RUNNER_LISTEN: listen }: Readonly<Record<string, string | undefined>>,
  address: string | undefined,
): Target[] {
  const at = (name: string, host: string | undefined, of: string | undefined) => {
    const [, found, port] = /^(.+):(\d+)$/.exec(of ?? "") ?? [];
    const named = host ?? found;
    return named === undefined || port === undefined ? [] : [{ name, host: named, port: Number(port) }];
  };
  const own = address === undefined ? [] : at("the runner", address, listen);
  return [...at("the runner's Service", undefined, service), ...own];
}

function cacheSettingsFrom(values: Values): CacheSettings | null {
  const storageClass = values.TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS;
  if (storageClass === undefined) return null;
  const accessMode = values.TOWPATH_KUBERNETES_CACHE_ACCESS_MODE ?? "ReadWriteOnce";
  return { storageClass, accessMode, bytes: values.TOWPATH_KUBERNETES_CACHE_MIB * 1024 * 1024 };
}
