import { z } from "zod";
import { type sandboxSettings, sandboxSettingsFrom } from "../host/config.ts";
import type { ApiLocation } from "./api/connection.ts";

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
  /** Runs the pods with another container runtime, such as gVisor. */
  TOWPATH_KUBERNETES_RUNTIME_CLASS: optional(z.string()),
  /** Storage of servers' `/data`. Without it, servers that keep data don't start. */
  TOWPATH_KUBERNETES_STORAGE_CLASS: optional(z.string()),
  /** Storage of organizations' caches of packages, one volume each. Without it, builds download what they install. */
  TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS: optional(z.string()),
  TOWPATH_KUBERNETES_CACHE_MIB: z.coerce
    .number()
    .int()
    .min(64)
    .default(20 * 1024),
  /** `ReadWriteOnce`: an organization's builds run on one node. */
  TOWPATH_KUBERNETES_CACHE_ACCESS: z
    .enum(["ReadWriteOnce", "ReadWriteMany"], "must be ReadWriteOnce or ReadWriteMany")
    .default("ReadWriteOnce"),
  /** Path of a kubeconfig; unset in the cluster, where the pod's service account is used. */
  TOWPATH_KUBERNETES_CONFIG: optional(z.string().startsWith("/", "must be an absolute path")),
};

export type KubernetesSettings = {
  readonly api: ApiLocation;
  readonly namespace: string;
  readonly pods: PodSettings;
  /** Size of a server's `/data`. */
  readonly dataBytes: number;
  readonly dataDirectory: string;
  readonly runDirectory: string;
  /** Null: an organization's builds share no cache. */
  readonly cache: CacheSettings | null;
  /** Set for every build step. */
  readonly buildEnvironment: Readonly<Record<string, string>>;
};

/** Of the claims for caches, one for each organization. */
export type CacheSettings = {
  readonly storageClass: string;
  readonly accessMode: "ReadWriteOnce" | "ReadWriteMany";
  readonly bytes: number;
};

/** What all pods have in common. */
export type PodSettings = {
  readonly image: string;
  readonly imagePullPolicy: "Always" | "IfNotPresent" | "Never" | null;
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
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  const problems: string[] = [];
  if (image === undefined)
    problems.push("TOWPATH_KUBERNETES_IMAGE: must be the image of servers and builds, if TOWPATH_DRIVER is kubernetes");
  if (path === undefined && (host === undefined || port === undefined))
    problems.push("TOWPATH_KUBERNETES_CONFIG: must be the path of a kubeconfig, because this process isn't in a pod");
  if (problems.length > 0)
    throw new Error(`The settings of the Kubernetes driver are not valid:\n  ${problems.join("\n  ")}`);
  const { dataDirectory, runDirectory, dataBytes, buildEnvironment } = sandboxSettingsFrom(values, environment);
  const cacheClass = values.TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS;
  return {
    api: path === undefined ? { kind: "account", host: host ?? "", port: port ?? "" } : { kind: "kubeconfig", path },
    namespace: values.TOWPATH_KUBERNETES_NAMESPACE,
    pods: {
      image: image ?? "",
      imagePullPolicy: values.TOWPATH_KUBERNETES_IMAGE_PULL_POLICY ?? null,
      runtimeClass: values.TOWPATH_KUBERNETES_RUNTIME_CLASS ?? null,
      storageClass: values.TOWPATH_KUBERNETES_STORAGE_CLASS ?? null,
    },
    cache:
      cacheClass === undefined
        ? null
        : {
            storageClass: cacheClass,
            accessMode: values.TOWPATH_KUBERNETES_CACHE_ACCESS,
            bytes: values.TOWPATH_KUBERNETES_CACHE_MIB * 1024 * 1024,
          },
    dataBytes,
    dataDirectory,
    runDirectory,
    buildEnvironment,
  };
}
