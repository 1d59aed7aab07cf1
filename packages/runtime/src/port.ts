import type { Endpoint } from "@towpath/runner-api/endpoint";

export type Limits = {
  /** Bytes of memory for all processes of the sandbox together. */
  readonly memoryBytes: number;
  /** Processes and threads together. */
  readonly processes: number;
  /** Share of one CPU: 1 = one core. */
  readonly cpus: number;
  /** Bytes that the private /tmp of the sandbox may hold. */
  readonly tmpBytes: number;
  /** Bytes of the largest file that may be written; not limited when it is left out. */
  readonly fileBytes?: number;
};

/** `none`: no interface but its own loopback. `internet`: outgoing only, never the host's loopback. */
export type Network = "none" | "internet";

export type OutputStream = "stdout" | "stderr";

/** Called with whole lines without their line end, at most 8 KiB each; longer ones are cut and say so. */
export type OutputSink = (stream: OutputStream, line: string, time: Date) => void;

export type ExitReason =
  | "exited"
  | "signaled"
  | "out-of-memory"
  | "timed-out"
  | "stopped"
  | "output-limit"
  | "disk-limit"
  | "disk-full";

export type Exit = {
  readonly reason: ExitReason;
  /** Exit status when it exited by itself, else null. */
  readonly code: number | null;
  readonly signal: string | null;
};

export type RunOptions = {
  readonly timeoutMs: number;
  /** Output beyond this many bytes ends the command with reason `output-limit`. Each line counts 32 bytes more. */
  readonly outputBytes: number;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal;
};

/** A server, in terms that mean the same on every host. */
export type ServerSpec = {
  /** Digests of artifacts. */
  readonly layers: { readonly dependencies: string; readonly code: string };
  /** The Python for which the layers were built, such as `3.11.7`. */
  readonly pythonVersion: string;
  /** `file.py:object`, relative to the code layer. */
  readonly entrypoint: string;
  /** Secrets and TOWPATH_CLOUD_* (RUN-4). The driver adds what Python needs, and nothing of the platform's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly network: Network;
  /** Serve MCP at `inspectPath` too, past the server's own sign-in. For builds, whose socket nothing else reaches. */
  readonly inspectable?: boolean;
};

export type InstanceSpec = {
  /** Unique among what runs; the last 12 characters alone, too. */
  readonly instanceId: string;
  readonly server: ServerSpec;
  /** From the start of the process to an answering socket. */
  readonly startTimeoutMs: number;
  /**
   * Whatever a later runner must know to take the server over (see `adopt`); may hold secrets. The driver keeps it for
   * as long as the server runs, never on a disk.
   */
  readonly memo?: string;
};

/** A server that an earlier runner started and that outlived it. `memo`: that of its InstanceSpec. */
export type Survivor = { readonly instanceId: string; readonly memo: string };
export type AdoptedServer = { readonly handle: InstanceHandle; readonly isFrozen: boolean };

/** On the endpoint of an inspectable server: its MCP endpoint without what the server puts before it. */
export const inspectPath = "/-/towpath/inspect";

/**
 * What build steps work on. `source`: the repository. `tree`: a writable copy of it. `work`: files between steps.
 * `dependencies` and `code`: what becomes a layer. `cache`: of the organization, outlives the build.
 */
export const buildVolumes = ["source", "tree", "work", "dependencies", "code", "cache"] as const;
export type BuildVolume = (typeof buildVolumes)[number];

export type VolumeMount = {
  readonly volume: BuildVolume;
  /** Directory of the volume that is seen; all of it when left out. */
  readonly subPath?: string;
  /** Absolute, where the step sees it. */
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

export type BuildSpec = {
  readonly buildId: string;
  /** Builds of one organization share a cache, and nothing with others. */
  readonly organizationId: string;
  /** Of each step. */
  readonly limits: Limits;
  /** What the build may write to disk while it installs, including what it adds to the cache. */
  readonly diskBytes: number;
  /** Steps are killed when less than this is left free: all tenants share the disk. */
  readonly freeBytes: number;
};

export type BuildWorkspace = {
  /**
   * This process's view of a volume, an absolute path. What is written there before a step is what the step sees, and
   * after a step it holds what that wrote. Whatever lies there then was made by a tenant: never follow its links.
   */
  directory(volume: BuildVolume): string;
  /** Changes when the same steps could give other layers: Python, tools, architecture, the operator's settings. */
  image(pythonVersion: string): Promise<string>;
  /**
   * Runs a step to its end. Never throws for what the command does. A step that wrote too much ends with reason
   * `disk-limit`, one that would fill the disk of all with `disk-full`.
   * @throws SandboxError when it cannot be isolated
   */
  run(step: BuildStep, options: RunOptions): Promise<Exit>;
  /**
   * Stores a volume as a layer, outside the sandbox of any step, and resolves to its digest. Nothing may run in the
   * volume any more; it is gone afterwards.
   * @param options.name hash of what it was made of
   * @throws an error with code `too_large`
   */
  publish(
    volume: "dependencies" | "code",
    options: { readonly name: string; readonly maxBytes: number },
  ): Promise<string>;
  /** Removes all volumes but the cache. */
  close(): Promise<void>;
};

/** A started server. All methods are idempotent. */
export type InstanceHandle = {
  readonly instanceId: string;
  /** Speaks HTTP, with MCP at /mcp. */
  readonly endpoint: Endpoint;
  /** Stops all processes from running, keeps their memory. Resolves to false when the host cannot freeze. */
  freeze(): Promise<boolean>;
  /** Undoes `freeze`; at once when it is not frozen. */
  wake(): Promise<void>;
  /** SIGTERM, then SIGKILL to everything in the sandbox after `graceMs`. Resolves when nothing is left. */
  stop(graceMs: number): Promise<Exit>;
  /** Memory in use now; null when the host does not count it. */
  memoryBytes(): Promise<number | null>;
  /** False from the moment in which the server's process begins to end, long before `exited` resolves. */
  isAlive(): Promise<boolean>;
  /** Resolves once, when the server has ended for any reason. */
  readonly exited: Promise<Exit>;
};

/** What the harness writes to /run/towpath/status.json; the start fails with `failed`. See python/towpath_runner. */
export type HarnessStatus =
  | {
      readonly state: "ready";
      readonly kind: string;
      readonly frameworks: Readonly<Record<string, string>>;
      readonly importMs: number;
    }
  | {
      readonly state: "failed";
      readonly code: HarnessFailureCode;
      readonly message: string;
      readonly file: string | null;
      readonly line: number | null;
      readonly module: string | null;
      /** Objects in the file that would do, when the named one is missing. */
      readonly candidates: readonly string[];
      readonly traceback: string | null;
    };

type HarnessFailureCode =
  | "entrypoint_not_found"
  | "syntax_error"
  | "module_missing"
  | "import_failed"
  | "variable_missing"
  | "object_missing"
  | "unsupported_object"
  | "factory_failed"
  | "lifespan_failed"
  | "mcp_version_mismatch";

export type StartResult =
  | { readonly ok: true; readonly handle: InstanceHandle; readonly startMs: number }
  | {
      readonly ok: false;
      /** `harness`: it said why. `exited`: it ended without a word. `timeout`: neither ready nor failed in time. */
      readonly cause: "harness" | "exited" | "timeout";
      readonly status: Extract<HarnessStatus, { state: "failed" }> | null;
      readonly exit: Exit | null;
    };

/** Which protections are in force on this host, for the log, the UI and the refusal to run. */
export type Isolation = {
  readonly driver: string;
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly required: boolean;
    readonly detail: string;
  }[];
  /** False when a required check failed: nothing is run unless TOWPATH_ALLOW_UNSANDBOXED allows it. */
  readonly trusted: boolean;
  /** Settings by which the operator allowed less, and what each one means on this host. */
  readonly exceptions: readonly { readonly setting: string; readonly meaning: string }[];
  /** What cannot be run on this host, why, and what the operator can do: whole sentences. */
  readonly problems: readonly string[];
  readonly cgroup: "v2" | "v1" | "none";
  readonly canFreeze: boolean;
};

/** The driver port. `sandbox` (bubblewrap on this host) and the fake of the tests implement it; one contract test. */
export type RuntimeDriver = {
  readonly name: string;
  /** Really tries the isolation (reads host files, environment, sockets, neighbours from inside). */
  selfTest(): Promise<Isolation>;
  /** Versions of Python that servers and builds can have, newest first, such as `3.11.7`. */
  pythons(): Promise<readonly string[]>;
  /** The version for a request such as `3.11`, `3.11.7`, `>=3.10,<3.13` or null (any); null when none fits. */
  findPython(request: string | null): Promise<string | null>;
  /** Makes the volumes of a build. To be closed in any case. */
  openBuild(spec: BuildSpec): Promise<BuildWorkspace>;
  /** Removes what builds of killed processes have left. Resolves to how many. */
  removeLostBuilds(): Promise<number>;
  /**
   * Starts a server and waits until its endpoint answers. Never throws for what the server does.
   * @throws SandboxError when it cannot be isolated, and `layer_unavailable` or `python_unavailable`, whose messages
   * are for the owner of the server
   */
  start(spec: InstanceSpec, onOutput: OutputSink): Promise<StartResult>;
  /**
   * Takes over the servers of an earlier runner that is gone. To be called once, before anything else. `claim` says
   * where a server's output goes; a server for which it returns null is ended, with all other leftovers.
   */
  adopt(claim: (survivor: Survivor) => Promise<OutputSink | null>): Promise<AdoptedServer[]>;
  /** Ends everything that this driver started or adopted and removes its cgroups and namespaces. */
  close(): Promise<void>;
};
