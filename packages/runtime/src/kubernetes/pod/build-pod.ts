import type { Container, Volume, VolumeMount } from "kubernetes-types/core/v1.js";
import { type BuildSpec, type BuildVolume, buildImage, buildVolumes } from "../../port/builds.ts";
import type { New } from "../api/objects.ts";
import type { PodSettings } from "../config.ts";
import { labels, managedBy } from "./labels.ts";
import { containerOf, mebibyte, mount, podOf, podProgram, processors, quantity, scratch } from "./parts.ts";
import { userOf } from "./restricted.ts";

/**
 * The containers of a build. `files` is the platform's: it has all volumes and sends layers. In the two others steps run,
 * those that fill the dependency layer apart from those that make the code layer, since both may run at the same time.
 */
export const buildContainers = ["files", "install", "code"] as const;
export type BuildContainer = (typeof buildContainers)[number];

/** Where the service of each container listens. */
export const portOf: Readonly<Record<BuildContainer, number>> = { files: 7071, install: 7072, code: 7073 };

/** Where a container's own files are that steps read, such as the operator's certificates. */
export const stepRunDirectory = "/run/towpath";

export type BuildPodSpec = {
  readonly name: string;
  readonly build: BuildSpec;
  /** The claim that has the organization's cache; null: the cache ends with the pod. */
  readonly cacheClaim: string | null;
  /** SHA-256 of each container's secret in hex: what it must know to recognize the worker, and no secret. */
  readonly secretDigests: Readonly<Record<BuildContainer, string>>;
};

/** The container whose volumes a step needs. */
export const containerFor = (volumes: readonly { readonly volume: BuildVolume }[]): Exclude<BuildContainer, "files"> =>
  volumes.some(({ volume }) => volume === "code") ? "code" : "install";

/** Where a container has volumes, by role. */
const places: Readonly<Record<BuildContainer, Partial<Readonly<Record<BuildVolume, string>>>>> = {
  files: Object.fromEntries(buildVolumes.map((volume) => [volume, `/volumes/${volume}`])),
  // Environments contain their own path, so these volumes are where the server and the builder expect them.
  install: {
    source: "/volumes/source",
    tree: "/volumes/tree",
    work: buildImage.work,
    dependencies: buildImage.dependencies,
    cache: buildImage.cache,
  },
  code: { source: "/volumes/source", code: buildImage.work },
};

/** Packing reads files in blocks; the kernel's cache of them counts, but gives way. */
const filesBytes = 256 * mebibyte;
/** Copies and compiles sources. */
const codeBytes = 512 * mebibyte;
/** Used by the platform's program beside the step. */
const ownBytes = 24 * mebibyte;
const typicalCpus = 0.1;

/** The pod of a build. Pure. */
export function buildPod(spec: BuildPodSpec, settings: PodSettings): New<"pods"> {
  const { name, build, cacheClaim, secretDigests } = spec;
  const { limits, organizationId, buildId, diskBytes } = build;
  const memory: Readonly<Record<BuildContainer, { readonly requested: number; readonly most: number }>> = {
    files: { requested: ownBytes, most: filesBytes },
    install: { requested: limits.memoryBytes / 2, most: limits.memoryBytes + ownBytes },
    code: { requested: ownBytes, most: Math.min(limits.memoryBytes, codeBytes) + ownBytes },
  };
  const container = (role: BuildContainer): Container =>
    containerOf(settings, {
      name: role,
      command: podProgram("build"),
      args: [
        role === "files" ? "files" : "steps",
        String(portOf[role]),
        secretDigests[role],
        JSON.stringify(places[role]),
        role === "files" ? "/packed" : stepRunDirectory,
      ],
      ports: [{ containerPort: portOf[role] }],
      resources: {
        requests: { cpu: processors(typicalCpus), memory: quantity(memory[role].requested) },
        limits: { cpu: processors(role === "files" ? 1 : limits.cpus), memory: quantity(memory[role].most) },
      },
      volumeMounts: mountsOf(role),
    });
  return {
    metadata: {
      name,
      labels: {
        ...managedBy,
        [labels.role]: "build",
        [labels.build]: buildId,
        [labels.organization]: organizationId,
        [labels.network]: "internet",
      },
    },
    spec: {
      // Builds of an organization share a cache, so they are one user.
      ...podOf(settings, userOf(`build:${organizationId}`)),
      terminationGracePeriodSeconds: 1,
      containers: buildContainers.map(container),
      volumes: volumesOf(diskBytes, limits.tmpBytes, cacheClaim),
    },
  };
}

function mountsOf(role: BuildContainer): VolumeMount[] {
  const isPlatform = role === "files";
  const volumes = Object.entries(places[role]).map(([volume, path]) =>
    mount(volume, path, !isPlatform && volume === "source" ? { readOnly: true } : {}),
  );
  if (isPlatform) return [...volumes, mount("packed", "/packed")];
  // Steps expect the source and its copy at the same path, so links below /app lead to either.
  const own = { app: "/app", run: stepRunDirectory, tmp: "/tmp" };
  return [...volumes, ...Object.entries(own).map(([name, path]) => mount(`${role}-${name}`, path))];
}

/**
 * The kubelet evicts pods whose volumes are larger, minutes later. It is the second line of defense: the watch in the pod
 * ends the step at `diskBytes`, and says why.
 */
function volumesOf(diskBytes: number, tmpBytes: number, cacheClaim: string | null): Volume[] {
  const large = (name: string) => scratch(name, 2 * diskBytes, "disk");
  return [
    ...buildVolumes.map((volume) =>
      volume === "cache" && cacheClaim !== null
        ? { name: volume, persistentVolumeClaim: { claimName: cacheClaim } }
        : large(volume),
    ),
    large("packed"),
    ...(["install", "code"] as const).flatMap((role) => [
      scratch(`${role}-app`, mebibyte, "disk"),
      scratch(`${role}-run`, mebibyte, "disk"),
      scratch(`${role}-tmp`, tmpBytes, "disk"),
    ]),
  ];
}
