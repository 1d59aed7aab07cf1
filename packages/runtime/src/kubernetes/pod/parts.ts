import type { Container, PodSpec, Volume, VolumeMount } from "kubernetes-types/core/v1.js";
import type { PodSettings } from "../config.ts";
import { restrictedContainer, restrictedPod } from "./restricted.ts";

// Parts of the pods of servers and probes.

export const mebibyte = 1024 * 1024;

/** The program of python/towpath_pod in the image. */
export const podProgram = (name: string): string[] => ["python3", "-m", `towpath_pod.${name}`];

/** What a pod is made of, its containers apart. */
export function podOf(settings: PodSettings, user: number): Partial<PodSpec> {
  return {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // The node's resolver: pods must not learn names of the cluster.
    dnsPolicy: "Default",
    ...(settings.pullSecrets.length > 0 && { imagePullSecrets: settings.pullSecrets.map((name) => ({ name })) }),
    ...(settings.runtimeClass !== null && { runtimeClassName: settings.runtimeClass }),
    securityContext: restrictedPod(user),
    // The default of 5 minutes is long for servers that are started elsewhere by the next request.
    tolerations: ["not-ready", "unreachable"].map((condition) => ({
      key: `node.kubernetes.io/${condition}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 30,
    })),
  };
}

/** A container of our image. */
export const containerOf = (settings: PodSettings, container: Container): Container => ({
  image: settings.image,
  imagePullPolicy: settings.imagePullPolicy,
  securityContext: restrictedContainer,
  terminationMessagePolicy: "File",
  ...container,
});

/** An empty directory that is gone with the pod. In memory, it counts as the memory of who writes to it. */
export const scratch = (name: string, bytes: number, medium: "Memory" | "disk"): Volume => ({
  name,
  emptyDir: { sizeLimit: quantity(bytes), ...(medium === "Memory" && { medium }) },
});

export const mount = (name: string, mountPath: string, options: Partial<VolumeMount> = {}): VolumeMount => ({
  name,
  mountPath,
  ...options,
});

/** Bytes as Kubernetes writes them. */
export const quantity = (bytes: number): string =>
  bytes % mebibyte === 0 ? `${bytes / mebibyte}Mi` : String(Math.ceil(bytes));

/** Processors as Kubernetes writes them. */
export const processors = (cpus: number): string => `${Math.ceil(cpus * 1000)}m`;

const suffixes: Readonly<Record<string, number>> = {
  "": 1,
  m: 0.001,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes or processors, however Kubernetes writes them; NaN for other texts. */
export function amountOf(text: string): number {
  const [, number, suffix = ""] = /^([0-9.]+)([A-Za-z]*)$/.exec(text) ?? [];
  return Number(number) * (suffixes[suffix] ?? Number.NaN);
}
