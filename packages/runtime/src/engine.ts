import type { Exit, Isolation, Limits, Network, OutputSink, RunOptions, RuntimeDriver, StartResult } from "./port.ts";

// What a driver of this host is made of, below the port: commands, mounts and folders. Nothing outside this package
// knows of it.

/**
 * What may be read, and where the process sees it. Paths are absolute; `inside` is the path in the sandbox. What is
 * mounted must be readable for all; the driver gives the top folder of a writable mount to the sandbox's user.
 */
export type Mount = { readonly host: string; readonly inside: string; readonly writable: boolean };

/** One command in a sandbox. The same shape serves build steps (run to the end) and servers (kept running). */
export type SandboxSpec = {
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the process; nothing of the platform's is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly mounts: readonly Mount[];
  readonly limits: Limits;
  readonly network: Network;
  /**
   * Sandboxes with the same identity run as the same user of the host, so that they can share writable folders (a
   * cache of an organization). Without one, each sandbox has a user of its own.
   */
  readonly identity?: string;
};

/** A server's command, and where its socket comes to be. */
export type Launch = {
  readonly instanceId: string;
  readonly sandbox: SandboxSpec;
  /**
   * A directory of the host for this instance alone, made by the engine. Below it the engine makes the one that the
   * server sees at /run/towpath, where it creates mcp.sock and status.json.
   */
  readonly socketDirectory: string;
  /** From spawn to an answering socket. */
  readonly startTimeoutMs: number;
  /** See `InstanceSpec`. */
  readonly memo?: string;
};

/** Runs commands on this host: isolated by bubblewrap, or as plain processes in tests. */
export type Engine = {
  readonly name: string;
  /** See `RuntimeDriver`. */
  selfTest(): Promise<Isolation>;
  /** Whether commands run without a sandbox and see the host's own paths, which then end up in what builds make. */
  usesHostPaths(): Promise<boolean>;
  /** Runs a command to its end. Never throws for what the command does; SandboxError when it cannot be isolated. */
  run(spec: SandboxSpec, options: RunOptions): Promise<Exit>;
  /** Starts a server and waits until its socket answers. Never throws for what the server does. */
  start(launch: Launch, onOutput: OutputSink): Promise<StartResult>;
  /** See `RuntimeDriver`. */
  readonly adopt: RuntimeDriver["adopt"];
  /** Ends everything that this engine started or adopted and removes its cgroups and namespaces. */
  close(): Promise<void>;
};

/** Unpacked layers on this host: the layer cache of packages/artifacts. */
export type HostLayers = {
  /** Absolute path of a layer. @throws an error with code `not_found` or `digest_mismatch` */
  get(digest: string): Promise<string>;
  /** Stores a sealed directory as a layer; it is gone afterwards. @throws an error with code `too_large` */
  add(directory: string, options: { readonly name: string; readonly maxBytes: number }): Promise<{ digest: string }>;
};

export type HostDriverConfig = {
  /** Directories of instances, with their sockets, are made below. A short path: that of a socket has 107 bytes. */
  readonly instanceDirectory: string;
  readonly layers: HostLayers;
  /** Path of uv, which finds the Pythons of this host. TOWPATH_UV. */
  readonly uv: string;
  /** For drivers that build. */
  readonly builds?: {
    /** Scratch directories of builds and caches of organizations are made below, on the file system of the layers. */
    readonly dataDirectory: string;
    /** What every build step gets; see `pickBuildEnvironment`. */
    readonly environment: Readonly<Record<string, string>>;
  };
  /** Directory that holds the package towpath_runner, unless it is this checkout's. For tests. */
  readonly harness?: string;
};
