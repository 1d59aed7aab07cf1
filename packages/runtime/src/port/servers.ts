import type { HarnessFailureCode } from "@towpath/core/delivery/build/contract";
import type { ServerEndpoint } from "@towpath/runner-api/endpoint";
import type { Exit, LastLines, Limits, Network, OutputSink } from "./execution.ts";

/** A server, independent of the host. */
export type ServerSpec = {
  /** Digests of artifacts. */
  readonly layers: { readonly dependencies: string; readonly code: string };
  /** The Python for which the layers were built, such as `3.11.7`. */
  readonly pythonVersion: string;
  /** `file.py:object`, relative to the code layer, or a program (BLD-16). */
  readonly entrypoint: string;
  /** After the program's name. Never secrets: all of the sandbox's processes can read them. */
  readonly arguments?: readonly string[];
  /** Secrets and TOWPATH_CLOUD_* (RUN-4). The driver adds only what Python needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly network: Network;
  /** Also serve MCP at `inspectPath`, bypassing the server's own sign-in. Only for builds. */
  readonly inspectable?: boolean;
  /** Id of a `/data` that outlives the server (BLD-19); without one, `/data` is gone with the instance. */
  readonly dataVolume?: string;
};

/** Path of an inspectable server's MCP endpoint that bypasses its own sign-in. */
export const inspectPath = "/-/towpath/inspect";

export type InstanceSpec = {
  /** A UUID of its own. */
  readonly instanceId: string;
  readonly server: ServerSpec;
  /**
   * From starting the process until its endpoint answers. Up to three times as long if it was ready to run while the
   * host's processors were busy with others.
   */
  readonly startTimeoutMs: number;
  /**
   * What a later runner needs to adopt the server (see `adopt`); may contain secrets. The driver keeps it while the
   * server runs, never unsealed on disk.
   */
  readonly memo?: string;
  /** The build that inspects it; absent for a server that runs. Without that build it is lost (`removeLost`). */
  readonly buildId?: string;
};

/** A server that outlived the runner that started it, with the `memo` of its InstanceSpec. */
export type Survivor = { readonly instanceId: string; readonly memo: string };
/** Where its output continues: all lines after `last`, each once. */
export type ClaimedOutput = {
  readonly onOutput: OutputSink;
  readonly last: LastLines;
  /** For a driver that reads the output from its beginning again, in place of both: a sink that leaves out what is stored. */
  readonly fromBeginning?: () => Promise<OutputSink>;
};
export type AdoptedServer = { readonly handle: InstanceHandle; readonly isFrozen: boolean };

/** A started server. All methods are idempotent. */
export type InstanceHandle = {
  readonly instanceId: string;
  /** Speaks HTTP, with MCP at /mcp. */
  readonly endpoint: ServerEndpoint;
  /** Suspends all processes, which keep their memory. Resolves to false without the capability `freeze`. */
  freeze(): Promise<boolean>;
  /** Undoes `freeze`; does nothing if it is not frozen. */
  wake(): Promise<void>;
  /** Sends SIGTERM, and SIGKILL to the whole sandbox after `graceMs`. Resolves when all processes have ended. */
  stop(graceMs: number): Promise<Exit>;
  /** Memory in use; null without the capability `memory`, and once it has ended. */
  memoryBytes(): Promise<number | null>;
  /** False as soon as the server's process begins to exit, long before `exited` resolves. */
  isAlive(): Promise<boolean>;
  /** Resolves when the server has ended for any reason. */
  readonly exited: Promise<Exit>;
};

/**
 * The bridge of a server that can't serve HTTP (BLD-16): `object` for a server of an old SDK, or `program`, which
 * speaks MCP on standard input and output and gets a process for each session.
 */
export const bridges = ["object", "program"] as const;
export type BridgeKind = (typeof bridges)[number];

/** Why a server may offer less than when it starts by itself, and which tools it may lack (BLD-16). */
export type Incomplete = { readonly reason: string; readonly tools: readonly string[] };

/**
 * The result of the harness's start. A server that is `ready` reports it at its endpoint; `failed` reaches the driver
 * before. See python/towpath_runner.
 */
export type HarnessStatus =
  | {
      readonly state: "ready";
      readonly kind: string;
      readonly frameworks: Readonly<Record<string, string>>;
      readonly importMs: number;
      readonly bridge?: BridgeKind | undefined;
      readonly incomplete?: Incomplete | undefined;
      /** For a start from a prewarmed interpreter: whether its imports were used, else why not. */
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

/** A place in the code of a server. `isOwn`: in the server's own code, whose paths are relative to its directory. */
export type StackFrame = {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  readonly isOwn: boolean;
};

/** The activity of a server that was neither ready nor had failed in time. */
export type LateStart = {
  /**
   * `starved`: it was ready to run, and the host's processors were busy with others. `busy`: it used its processor time.
   * `waiting`: it used little, though the host had more.
   */
  readonly activity: "starved" | "busy" | "waiting";
  /** Its time limit. */
  readonly afterMs: number;
  /** Processor time that it used. */
  readonly processorMs: number;
  /** The stack of its own code and its callees, the innermost call last; empty if unknown. */
  readonly stack: readonly StackFrame[];
};

/**
 * Why a server didn't start in a place that waits: none was there (`drained`), those that were are for other limits or
 * networks (`unsuitable`), or one could not be used (`failed`).
 */
export const poolObstacles = ["drained", "unsuitable", "failed"] as const;
export type PoolObstacle = (typeof poolObstacles)[number];

export type StartResult =
  | {
      readonly ok: true;
      readonly handle: InstanceHandle;
      readonly startMs: number;
      /** See `HarnessStatus`; the server itself could have written both. */
      readonly prewarm?: "used" | PrewarmObstacle;
      /** Of a driver whose servers may start in a place that waits: whether this one has. */
      readonly pool?: "used" | PoolObstacle;
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

// The capability `prewarm`, which shortens starts (decision 024).

/** An interpreter to prepare. It can become any server of the organization with the same layer, Python and network. */
export type PrewarmSpec = {
  readonly organizationId: string;
  /** Digest of the dependency layer. */
  readonly dependencies: string;
  /** Such as `3.11.7`. */
  readonly pythonVersion: string;
  readonly network: Network;
  /** While it imports and waits. Of these, `tmpBytes` and `fileBytes` must be those of the server. */
  readonly limits: Limits;
  readonly startTimeoutMs: number;
  /** Only if it can be forked from one that is there, in milliseconds and not seconds; else a refusal. */
  readonly onlyForked?: true;
};

/**
 * Why a waiting interpreter did not become the server, which then had an ordinary start. In the same sandbox:
 * `environment` (a variable that imports read has another value), `shadowed` (the code has a module of the same name as
 * an imported one), `dotenv` (FastMCP reads the code's .env while it is imported). In another one: `memory` (it already
 * uses more than the server may), `code_size`, `ended` (it died, or a step failed).
 */
export const prewarmObstacles = ["environment", "shadowed", "dotenv", "memory", "code_size", "ended"] as const;
export type PrewarmObstacle = (typeof prewarmObstacles)[number];

/** An interpreter that has imported the frameworks of a dependency layer, uses no processor and knows of no server. */
export type Prewarmed = {
  /**
   * Makes it the server, once: with its code, environment and limits. If that is impossible, it is ended and the result
   * says why; the caller then starts the server with `start`. Output from before the claim is passed on now.
   * @throws SandboxError `invalid_spec` if the server is another organization's or needs another interpreter;
   *   `layer_unavailable`
   */
  claim(
    organizationId: string,
    spec: InstanceSpec,
    onOutput: OutputSink,
  ): Promise<StartResult | { obstacle: PrewarmObstacle }>;
  memoryBytes(): Promise<number | null>;
  /** Ends it; does nothing once it has been claimed. */
  end(): Promise<void>;
  /** Resolves when it has ended, before or after a claim. */
  readonly ended: Promise<void>;
};

export type PrewarmResult =
  /** `withoutForks`: why it had to import by itself, on a host where it could be a fork. */
  | { readonly ok: true; readonly prewarmed: Prewarmed; readonly withoutForks?: string }
  /** `isFinal`: it would fail in the same way again. */
  | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

export type ServerDriver = {
  /**
   * Starts a server and waits until its endpoint answers. Never throws for what the server does.
   * @throws SandboxError if it can't be isolated, or with `layer_unavailable`, `python_unavailable` or (without the
   * capability `lastingData`, for a server with a `dataVolume`) `data_unavailable`, whose messages are for the owner of
   * the server
   */
  start(spec: InstanceSpec, onOutput: OutputSink): Promise<StartResult>;
  /**
   * Starts an interpreter that imports the frameworks of a dependency layer and waits to become a server. Without the
   * capability `prewarm`, a final refusal.
   * @throws SandboxError as `start` does
   */
  prewarm(spec: PrewarmSpec): Promise<PrewarmResult>;
  /**
   * Takes over the servers of an earlier runner that is gone. Call it once, before anything else. `claim` returns
   * where a server's output goes; servers for which it returns null are ended, with all other leftovers.
   */
  adopt(claim: (survivor: Survivor) => Promise<ClaimedOutput | null>): Promise<AdoptedServer[]>;
  /**
   * Removes unpacked layers that no server has needed for hours; the artifact store keeps them.
   *
   * @param inUse digests of the layers of all servers that run or are prewarmed
   */
  evictLayers(inUse: ReadonlySet<string>): Promise<void>;
};
