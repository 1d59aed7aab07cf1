import type { RunOptions } from "../port/builds.ts";
import type { Exit, Limits, Network, OutputSink } from "../port/execution.ts";
import type { Isolation } from "../port/host.ts";
import type { ServerDriver, StartResult } from "../port/servers.ts";
import type { Volumes } from "./data/volumes.ts";
import type { PrewarmLaunch, PrewarmOutcome } from "./prewarm/prewarm-server.ts";
import type { PythonDownloads } from "./python/bring-python.ts";

// The parts of a driver for this host, below the port: commands, mounts and directories. Internal to this package.

/**
 * Makes a path of the host visible in the sandbox. Both paths are absolute. The files must be readable for all; the
 * driver makes the sandbox's user the owner of a writable mount's top directory.
 */
export type Mount = {
  readonly host: string;
  readonly inside: string;
  readonly writable: boolean;
  /** The platform adds files while the sandbox runs: a kernel that caches directories must look again. */
  readonly filledLater?: true;
};

/** One command in a sandbox. The same shape serves build steps (run to the end) and servers (kept running). */
export type SandboxSpec = {
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the process; nothing of the platform's is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly mounts: readonly Mount[];
  /** Writable directories in memory, empty at first and gone with the sandbox; each holds `limits.tmpBytes`. */
  readonly scratch?: readonly string[];
  readonly limits: Limits;
  readonly network: Network;
  /**
   * Sandboxes with the same identity run as the same user of the host, so that they can share writable directories
   * (an organization's cache). Without one, each sandbox has its own user.
   */
  readonly identity?: string;
  /** Gives it a standard input, see `RunningProcess.sendInput`; else that is empty. */
  readonly input?: boolean;
  /** Lets its command fork into sandboxes of their own (forks/). Only for root, without gVisor. */
  readonly forks?: ForkingProgram;
  /** Starts a fork of such a command instead, which already has the spec's `argv` and, where they are equal, mounts. */
  readonly fork?: ForkSource;
};

/** The Python of the platform, without anything of a tenant's, that prepares forks. */
export type ForkingProgram = {
  /** In the sandbox: its command. */
  readonly python: readonly [string, ...string[]];
};

export type ForkSource = {
  /** The command's socket, on the host. */
  readonly socket: string;
  /** Executable on the host of the same Python. */
  readonly python: string;
  /** Of the sandbox whose command forks. */
  readonly parent: Pick<SandboxSpec, "mounts"> & { readonly identity: string; readonly group: string };
};

/** A server's command and the directory of its socket. */
export type Launch = {
  readonly instanceId: string;
  readonly sandbox: SandboxSpec;
  /**
   * The host's directory for this instance, created by the engine, with a subdirectory that the server sees at
   * /run/towpath, where it creates mcp.sock, or status.json if it can't start.
   */
  readonly socketDirectory: string;
  /** From spawning the process until its socket answers. */
  readonly startTimeoutMs: number;
  /** See `InstanceSpec`. */
  readonly memo?: string;
};

/** Runs commands on this host: isolated by bubblewrap, or as plain processes in tests. */
export type Engine = {
  readonly name: string;
  /** See `HostReport`. */
  selfTest(): Promise<Isolation>;
  /** Whether commands run without a sandbox and see the host's own paths, which then end up in their output. */
  usesHostPaths(): Promise<boolean>;
  /** Runs a command to its end. Never throws for what the command does; SandboxError when it cannot be isolated. */
  run(spec: SandboxSpec, options: RunOptions): Promise<Exit>;
  /** Starts a server and waits until its socket answers. Never throws for what the server does. */
  start(launch: Launch, onOutput: OutputSink): Promise<StartResult>;
  /**
   * Starts an interpreter that waits, frozen, for its server. Null if this host can't: it needs control groups that
   * limit memory and processes and freeze. Absent in an engine without limits.
   */
  prewarm?(launch: PrewarmLaunch): Promise<PrewarmOutcome | null>;
  /** See `ServerDriver`. */
  readonly adopt: ServerDriver["adopt"];
  /** Ends everything that this engine started or adopted and removes its cgroups and namespaces. */
  close(): Promise<void>;
};

/** Unpacked layers on this host: the layer cache of packages/artifacts. */
export type HostLayers = {
  /** Absolute path of a layer. @throws an error with code `not_found` or `digest_mismatch` */
  get(digest: string): Promise<string>;
  /** Stores a sealed directory as a layer; it is gone afterwards. @throws an error with code `too_large` */
  add(directory: string, options: { readonly name: string; readonly maxBytes: number }): Promise<{ digest: string }>;
  /** Removes layers that are not in use and weren't requested in that time. */
  evict(options: { readonly inUse: ReadonlySet<string>; readonly unusedForMs: number }): Promise<unknown>;
};

export type HostDriverConfig = {
  /** Holds layers, caches and the scratch space of builds, on one file system. TOWPATH_DATA_DIR. */
  readonly dataDirectory: string;
  /** Parent of the instances' directories with their sockets. Keep it short: a socket's path has at most 107 bytes. */
  readonly instanceDirectory: string;
  readonly layers: HostLayers;
  /**
   * Parent of the code of servers that were prewarmed, on the file system of the layers. Without it, this driver
   * prewarms nothing.
   */
  readonly codeDirectory?: string;
  /** Path of uv, which finds the Pythons of this host. TOWPATH_UV. */
  readonly uv: string;
  /** Without them, only the Pythons of this host are used. */
  readonly downloads?: PythonDownloads;
  /** Where servers keep `/data`; without it, servers that keep data don't start. */
  readonly volumes?: Volumes;
  /** Set for every build step; see `pickBuildEnvironment`. */
  readonly buildEnvironment: Readonly<Record<string, string>>;
  /** Directory that holds the package towpath_runner, unless it is this checkout's. For tests. */
  readonly harness?: string;
};
