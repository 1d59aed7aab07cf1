import type { Exit, Limits, Network, OutputSink } from "./execution.ts";

/**
 * The volumes of a build. `source`: the repository. `tree`: a writable copy of it. `work`: files that pass between
 * steps. `dependencies` and `code`: they become layers. `cache`: the organization's, which outlives the build.
 */
export const buildVolumes = ["source", "tree", "work", "dependencies", "code", "cache"] as const;
export type BuildVolume = (typeof buildVolumes)[number];

/** The virtual environment and the code have the same paths as for the server. */
export const dependencyPath = "/app/.venv";
export const codePath = "/app/src";
/** Directory of the Python installation; the interpreter is below `bin`. */
export const pythonPrefix = "/opt/python";

/** The build image: the paths that build steps see with every driver. */
export const buildImage = {
  uv: "/opt/uv/uv",
  /** See layer.py. */
  layerScript: "/opt/towpath-build/layer.py",
  /** The interpreter of a version such as `3.11.7`. */
  python: (version: string) => `${pythonPrefix}/bin/python${version.split(".").slice(0, 2).join(".")}`,
  /** Conventional paths of volumes. */
  source: "/app/source",
  code: codePath,
  work: "/app/build",
  dependencies: dependencyPath,
  cache: "/cache/uv",
} as const;

export type VolumeMount = {
  readonly volume: BuildVolume;
  /** The directory of the volume to mount; the whole volume if omitted. */
  readonly subPath?: string;
  /** Absolute path inside the step. */
  readonly path: string;
  readonly access: "read" | "write";
};

/** One command in the build image (see `buildImage`). The driver adds the operator's settings and no secret. */
export type BuildStep = {
  readonly argv: readonly [string, ...string[]];
  readonly pythonVersion: string;
  readonly volumes: readonly VolumeMount[];
  readonly network: Network;
};

export type RunOptions = {
  readonly timeoutMs: number;
  /** More output than this ends the command with reason `output-limit`. Each line counts 32 bytes in addition. */
  readonly outputBytes: number;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal;
};

export type BuildSpec = {
  readonly buildId: string;
  /** Builds of one organization share a cache; organizations share nothing. */
  readonly organizationId: string;
  /** For each step. */
  readonly limits: Limits;
  /** Max bytes that the build may write to disk while installing, including its cache. */
  readonly diskBytes: number;
  /** Steps are killed when less than this is free on the disk, which all tenants share. */
  readonly freeBytes: number;
};

/** Content for a volume. Paths are relative to it, with `/` between names, none of which is empty, `.` or `..`. */
export type VolumeEntry = { readonly path: string } & (
  | { readonly kind: "directory" }
  /** Steps run as other users: they may write `shared` files, and only read others. */
  | {
      readonly kind: "file";
      readonly access: "read" | "execute" | "shared";
      readonly content: string | AsyncIterable<Uint8Array>;
    }
  | { readonly kind: "link"; readonly target: string }
);

export type BuildWorkspace = {
  /**
   * Writes a step's input, in this order. Creates missing directories; a file replaces one of the same path. Takes the
   * next entry when the content of the last one has been read. Rejects with what `entries` throws. Never writes through
   * a link, unless a step with write access to the volume runs.
   */
  write(volume: BuildVolume, entries: Iterable<VolumeEntry> | AsyncIterable<VolumeEntry>): Promise<void>;
  /**
   * Reads a step's output, which a tenant controls: an ordinary file that no link leads to. No step that may write to
   * the volume may run meanwhile.
   * @throws UnreadableOutput if it is anything else or has more than `maxBytes`
   */
  read(volume: BuildVolume, path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Identifies everything else that affects the layers: Python, tools, architecture, the operator's settings. */
  image(pythonVersion: string): Promise<string>;
  /**
   * Runs a step to its end. Never throws for what the command does. A step that writes too much ends with reason
   * `disk-limit`; if the disk is almost full, with `disk-full`.
   * @throws SandboxError if it can't be isolated
   */
  run(step: BuildStep, options: RunOptions): Promise<Exit>;
  /**
   * Stores a volume as a layer and resolves to its digest. No step may use the volume any more; it is gone afterwards.
   * @param options.name hash of the layer's inputs
   * @throws an error with code `too_large`
   */
  publish(
    volume: "dependencies" | "code",
    options: { readonly name: string; readonly maxBytes: number },
  ): Promise<string>;
  /** Removes all volumes but the cache. */
  close(): Promise<void>;
};

export type BuildDriver = {
  /** Creates the volumes of a build. Always close it. */
  open(spec: BuildSpec): Promise<BuildWorkspace>;
  /**
   * Removes workspaces of builds that ended without closing them. Resolves to their number.
   *
   * @param running which of these builds run, with any worker; nothing is removed if it throws
   */
  removeLost(running: (buildIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<number>;
  readonly caches: BuildCaches;
};

/** Caches that later builds of an organization reuse. */
export type BuildCaches = {
  /** Bytes of each organization's cache. */
  sizes(signal?: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** Takes an organization's cache out of use; the next build begins an empty one. None of its builds may run. */
  discard(organizationId: string): Promise<void>;
  /** Deletes caches that were discarded before then. Resolves to their number. */
  removeDiscarded(before: Date, signal?: AbortSignal): Promise<number>;
};
