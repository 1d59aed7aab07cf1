import type { Container, Volume, VolumeMount } from "kubernetes-types/core/v1.js";
import { type BuildSpec, type BuildVolume, buildImage, buildVolumes } from "../../port/builds.ts";
import type { New } from "../api/objects.ts";
import { restrictedContainer, restrictedPod, userOf } from "./restricted.ts";

/**
 * The containers of a build. `files` is the platform's: it has all volumes and sends layers. In the two others steps run,
 * those that fill the dependency layer apart from those that make the code layer, since both may run at the same time.
 */
export const buildContainers = ["files", "install", "code"] as const;
export type BuildContainer = (typeof buildContainers)[number];

export const portOf: Readonly<Record<BuildContainer, number>> = { files: 7071, install: 7072, code: 7073 };

/** Labels by which objects of builds are found. */
export const buildLabels = {
  role: "towpath.dev/role",
  build: "towpath.dev/build",
  organization: "towpath.dev/organization",
  attempt: "towpath.dev/attempt",
} as const;

/** Where a container's own files are that steps read, such as the operator's certificates. */
export const runDirectory = "/run/towpath";

export type BuildPodSettings = {
  readonly image: string;
  readonly imagePullPolicy: "Always" | "IfNotPresent" | "Never";
  readonly runtimeClass: string | null;
};

export type BuildPodSpec = BuildPodSettings & {
  readonly name: string;
  readonly build: BuildSpec;
  /** Of this pod, for its label. */
  readonly attempt: string;
  /** The claim that has the organization's cache; null: the cache ends with the pod. */
  readonly cacheClaim: string | null;
  /** SHA-256 of each container's secret in hex: what it must know to recognize the worker, and no secret. */
  readonly secretDigests: Readonly<Record<BuildContainer, string>>;
};

/** Where a container has volumes, by role. `source` can't be written by steps. */
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

/** The container whose volumes a step needs. */
export const containerFor = (volumes: readonly { readonly volume: BuildVolume }[]): Exclude<BuildContainer, "files"> =>
  volumes.some(({ volume }) => volume === "code") ? "code" : "install";

const mebibyte = 1024 ** 2;
/** Beyond it a step counts as finished; the kubelet notices minutes later what the watch in the pod notices at once. */
const volumeLimit = (diskBytes: number) => String(2 * diskBytes);
const ownMemory = 256 * mebibyte;
/** Copies and compiles sources. */
const codeMemory = 512 * mebibyte;

/** The pod of a build. Pure. */
export function buildPod(spec: BuildPodSpec): New<"pods"> {
  const { name, build, attempt, image, imagePullPolicy, runtimeClass, cacheClaim } = spec;
  const { limits, diskBytes, organizationId, buildId } = build;
  const memory: Readonly<Record<BuildContainer, number>> = {
    files: ownMemory,
    install: limits.memoryBytes,
    code: Math.min(limits.memoryBytes, codeMemory),
  };
  const container = (role: BuildContainer): Container => ({
    name: role,
    image,
    imagePullPolicy,
    command: ["python3", "-m", "towpath_pod.build", role === "files" ? "files" : "steps"],
    args: [String(portOf[role]), spec.secretDigests[role], JSON.stringify(places[role]), scratchOf[role]],
    env: [{ name: "PYTHONDONTWRITEBYTECODE", value: "1" }],
    ports: [{ containerPort: portOf[role] }],
    securityContext: restrictedContainer,
    terminationMessagePolicy: "File",
    resources: {
      requests: { cpu: "50m", memory: String(role === "install" ? memory.install : ownMemory / 4) },
      limits: { cpu: String(role === "files" ? 1 : limits.cpus), memory: String(memory[role]) },
    },
    volumeMounts: mountsOf(role),
  });
  return {
    metadata: {
      name,
      labels: {
        [buildLabels.role]: "build",
        [buildLabels.build]: buildId,
        [buildLabels.organization]: organizationId,
        [buildLabels.attempt]: attempt,
      },
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "Default",
      terminationGracePeriodSeconds: 1,
      ...(runtimeClass !== null && { runtimeClassName: runtimeClass }),
      // Builds of an organization share a cache, so they are one user.
      securityContext: restrictedPod(userOf(`build:${organizationId}`)),
      containers: buildContainers.map(container),
      volumes: volumesOf(diskBytes, limits.tmpBytes, cacheClaim),
    },
  };
}

const scratchOf: Readonly<Record<BuildContainer, string>> = {
  files: "/packed",
  install: runDirectory,
  code: runDirectory,
};

function mountsOf(role: BuildContainer): VolumeMount[] {
  const volumes = Object.entries(places[role]).map(([volume, mountPath]) => ({
    name: volume,
    mountPath,
    ...(role !== "files" && volume === "source" && { readOnly: true }),
  }));
  const own = (name: string, mountPath: string) => ({ name: `${role}-${name}`, mountPath });
  if (role === "files") return [...volumes, { name: "packed", mountPath: scratchOf.files }];
  // Steps expect the source and its copy at the same path, so links below /app lead to either.
  return [...volumes, own("app", "/app"), own("run", runDirectory), own("tmp", "/tmp")];
}

function volumesOf(diskBytes: number, tmpBytes: number, cacheClaim: string | null): Volume[] {
  const empty = (name: string, sizeLimit: string): Volume => ({ name, emptyDir: { sizeLimit } });
  const small = String(mebibyte);
  return [
    ...buildVolumes.map((volume) =>
      volume === "cache" && cacheClaim !== null
        ? { name: volume, persistentVolumeClaim: { claimName: cacheClaim } }
        : empty(volume, volumeLimit(diskBytes)),
    ),
    empty("packed", volumeLimit(diskBytes)),
    ...(["install", "code"] as const).flatMap((role) => [
      empty(`${role}-app`, small),
      empty(`${role}-run`, small),
      empty(`${role}-tmp`, String(tmpBytes)),
    ]),
  ];
}
