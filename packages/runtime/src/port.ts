import type { HarnessFailureCode } from "@towpath/core/build/contract";
import type { Endpoint } from "@towpath/runner-api/endpoint";
import type { VolumeUsage } from "./data/volumes.ts";
import type { PrewarmObstacle, PrewarmResult, PrewarmSpec } from "./prewarm/prewarm-port.ts";
import type { BroughtPython } from "./python/bring-python.ts";
import type { InstalledPython } from "./python/resolve-python.ts";
import type { LateStart } from "./server/late-start.ts";

export type Limits = {
  /** Bytes of memory, for all processes of the sandbox together. */
  readonly memoryBytes: number;
  /** Processes and threads together. */
  readonly processes: number;
  /** CPU cores; fractions are allowed. */
  readonly cpus: number;
  /** Size of the sandbox's private /tmp in bytes. */
  readonly tmpBytes: number;
  /** Maximum size of a file in bytes; unlimited if omitted. */
  readonly fileBytes?: number;
};

/** `none`: only a loopback of its own. `internet`: outgoing only, never the host's loopback. */
export type Network = "none" | "internet";

export type OutputStream = "stdout" | "stderr";

/** Called with complete lines without line end, at most 8 KiB each; longer ones are cut and marked. */
export type OutputSink = (stream: OutputStream, line: string, time: Date) => void;

export type ExitReason =
  | "exited"
  | "signaled"
  | "out-of-memory"
  /** Its parent process, which belongs to the platform, ended: nothing was wrong with the server. */
  | "platform-ended"
  /** A server that was stuck at its limit of processes and threads. */
  | "process-limit"
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
  /** More output than this ends the command with reason `output-limit`. Each line counts 32 bytes in addition. */
  readonly outputBytes: number;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal;
};

/** A server, independent of the host. */
export type ServerSpec = {
  /** Digests of artifacts. */
  readonly layers: { readonly dependencies: string; readonly code: string };
  /** The Python for which the layers were built, such as `3.11.7`. */
  readonly pythonVersion: string;
  /** `file.py:object`, relative to the code layer, or a program (BLD-16). */
  readonly entrypoint: string;
  /** Words after the program's name. Never secrets: all of the sandbox's processes can read them. */
  readonly arguments?: readonly string[];
  /** Secrets and TOWPATH_CLOUD_* (RUN-4). The driver adds only what Python needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly network: Network;
  /** Also serve MCP at `inspectPath`, bypassing the server's own sign-in. Only for builds, whose socket is private. */
  readonly inspectable?: boolean;
  /** Id of what it sees at `/data`, which outlives it (BLD-19); without one, `/data` is gone with the instance. */
  readonly dataVolume?: string;
};

export type InstanceSpec = {
  /** Its last 12 characters must be unique among running instances. */
  readonly instanceId: string;
  readonly server: ServerSpec;
  /**
   * From starting the process until its socket answers. At most three times as long as far as it was ready to run and
   * the host's processors were busy with others.
   */
  readonly startTimeoutMs: number;
  /**
   * What a later runner needs to adopt the server (see `adopt`); may contain secrets. The driver keeps it while the
   * server runs, never on disk.
   */
  readonly memo?: string;
};

/** A server that outlived the runner that started it, with the `memo` of its InstanceSpec. */
export type Survivor = { readonly instanceId: string; readonly memo: string };
export type AdoptedServer = { readonly handle: InstanceHandle; readonly isFrozen: boolean };

/** Path of an inspectable server's MCP endpoint that bypasses its own sign-in. */
export const inspectPath = "/-/towpath/inspect";

/**
 * The volumes of a build. `source`: the repository. `tree`: a writable copy of it. `work`: files that pass between
 * steps. `dependencies` and `code`: they become layers. `cache`: the organization's, which outlives the build.
 */
export const buildVolumes = ["source", "tree", "work", "dependencies", "code", "cache"] as const;
export type BuildVolume = (typeof buildVolumes)[number];

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

export type BuildSpec = {
  readonly buildId: string;
  /** Builds of one organization share a cache; organizations share nothing. */
  readonly organizationId: string;
  /** For each step. */
  readonly limits: Limits;
  /** What the build may write to disk while installing, including what it adds to the cache. */
  readonly diskBytes: number;
  /** Steps are killed when less than this is free on the disk, which all tenants share. */
  readonly freeBytes: number;
};

export type BuildWorkspace = {
  /**
   * The absolute path of a volume for this process, to write a step's input and read its output. A tenant controls the
   * output: never follow its links.
   */
  directory(volume: BuildVolume): string;
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

/** A started server. All methods are idempotent. */
export type InstanceHandle = {
  readonly instanceId: string;
  /** Speaks HTTP, with MCP at /mcp. */
  readonly endpoint: Endpoint;
  /** Suspends all processes, which keep their memory. Resolves to false if the host can't freeze. */
  freeze(): Promise<boolean>;
  /** Undoes `freeze`; does nothing if it is not frozen. */
  wake(): Promise<void>;
  /** Sends SIGTERM, and SIGKILL to the whole sandbox after `graceMs`. Resolves when all processes have ended. */
  stop(graceMs: number): Promise<Exit>;
  /** Memory in use; null if the host doesn't count it. */
  memoryBytes(): Promise<number | null>;
  /** False as soon as the server's process begins to exit, long before `exited` resolves. */
  isAlive(): Promise<boolean>;
  /** Resolves when the server has ended for any reason. */
  readonly exited: Promise<Exit>;
};

/**
 * Over what a server that can't serve HTTP is bridged (BLD-16): `object`, one of an old SDK, or `program`, which speaks
 * MCP on standard input and output and gets a process for each session.
 */
export const bridges = ["object", "program"] as const;
export type BridgeKind = (typeof bridges)[number];

/** Why a server may lack something that it has when it starts by itself, and tools that it may lack (BLD-16). */
export type Incomplete = { readonly reason: string; readonly tools: readonly string[] };

/** What the harness writes to /run/towpath/status.json; the start fails with `failed`. See python/towpath_runner. */
export type HarnessStatus =
  | {
      readonly state: "ready";
      readonly kind: string;
      readonly frameworks: Readonly<Record<string, string>>;
      readonly importMs: number;
      readonly bridge?: BridgeKind | undefined;
      readonly incomplete?: Incomplete | undefined;
      /** Of a start from a prewarmed interpreter: whether what it had imported was used, else why not. */
      readonly prewarm?: "used" | PrewarmObstacle | undefined;
    }
  | {
      readonly state: "failed";
      readonly code: HarnessFailureCode;
      readonly message: string;
      readonly file: string | null;
      readonly line: number | null;
      readonly module: string | null;
      /** Objects in the file that could be served, variables to set, or a requirement with which the code may work. */
      readonly candidates: readonly string[];
      readonly traceback: string | null;
    };

export type StartResult =
  | {
      readonly ok: true;
      readonly handle: InstanceHandle;
      readonly startMs: number;
      /** See `HarnessStatus`; the server itself could have written both. */
      readonly prewarm?: "used" | PrewarmObstacle;
      readonly bridge?: BridgeKind;
      readonly incomplete?: Incomplete;
    }
  | {
      readonly ok: false;
      /** `harness`: it reported a failure. `exited`: it ended without one. */
      readonly cause: "harness" | "exited";
      readonly status: Extract<HarnessStatus, { state: "failed" }> | null;
      readonly exit: Exit | null;
    }
  | {
      readonly ok: false;
      /** Neither ready nor failed in time. */
      readonly cause: "timeout";
      readonly status: null;
      readonly exit: Exit | null;
      readonly late: LateStart;
    };

/** Which protections are in force on this host. */
export type Isolation = {
  readonly driver: string;
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly required: boolean;
    readonly detail: string;
  }[];
  /** False if a required check failed: then nothing runs unless TOWPATH_ALLOW_UNSANDBOXED allows it. */
  readonly trusted: boolean;
  /** Settings by which the operator relaxed the isolation, and what each one means on this host. */
  readonly exceptions: readonly { readonly setting: string; readonly meaning: string }[];
  /** What can't run on this host, why, and what the operator can do, in whole sentences. */
  readonly problems: readonly string[];
  readonly cgroup: "v2" | "v1" | "none";
  readonly canFreeze: boolean;
};

/**
 * The driver port, implemented by `sandbox` (bubblewrap on this host) and the fake for tests, with one contract test.
 */
export type RuntimeDriver = {
  readonly name: string;
  /** Tests the isolation from inside: tries to reach the host's files, environment and sockets, and neighbors. */
  selfTest(): Promise<Isolation>;
  /** Available Pythons, newest first. */
  pythons(): Promise<readonly InstalledPython[]>;
  /** The version for a request such as `3.11`, `3.11.7`, `>=3.10,<3.13` or null (any); null if none matches. */
  findPython(request: string | null): Promise<string | null>;
  /** Downloads and installs a Python for such a request; one attempt at a time, for all builds. Never throws. */
  bringPython(request: string): Promise<BroughtPython>;
  /** How full the servers' lasting directories are, as far as they were used since this driver started. */
  dataUsage(): Promise<readonly VolumeUsage[]>;
  /** Deletes those whose ids `kept` doesn't return, and resolves to their ids. Deletes none if `kept` throws. */
  removeData(kept: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<readonly string[]>;
  /** Creates the volumes of a build. Always close it. */
  openBuild(spec: BuildSpec): Promise<BuildWorkspace>;
  /** Removes what builds of killed processes left. Resolves to their number. */
  removeLostBuilds(): Promise<number>;
  /**
   * Starts a server and waits until its endpoint answers. Never throws for what the server does.
   * @throws SandboxError if it can't be isolated, or with `layer_unavailable` or `python_unavailable`, whose messages are
   * for the owner of the server
   */
  start(spec: InstanceSpec, onOutput: OutputSink): Promise<StartResult>;
  /**
   * Starts an interpreter that imports the frameworks of a dependency layer and waits, frozen, to become a server.
   * @throws SandboxError as `start` does
   */
  prewarm(spec: PrewarmSpec): Promise<PrewarmResult>;
  /**
   * Takes over the servers of an earlier runner that is gone. Call it once, before anything else. `claim` returns the
   * sink for a server's output; servers for which it returns null are ended, with all other leftovers.
   */
  adopt(claim: (survivor: Survivor) => Promise<OutputSink | null>): Promise<AdoptedServer[]>;
  /** Ends everything that this driver started or adopted, and removes its cgroups and namespaces. */
  close(): Promise<void>;
};
