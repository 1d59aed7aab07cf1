import type {
  BuildLogKind,
  BuildManifest,
  BuildPhase,
  BuildTimings,
  BuildWarning,
  Diagnosis,
  Layers,
  Program,
  Resolution,
} from "@towpath/core/delivery/build/contract";
import type { AuthMode } from "@towpath/core/projects/project/schema";
import type { Recording } from "@towpath/mcp/client";
import type { ServerIcon } from "@towpath/mcp/manifest";
import type { BridgeKind, Incomplete, LateStart, ServerEndpoint } from "@towpath/runtime";

export type BuildLogSink = (phase: BuildPhase, kind: BuildLogKind, text: string) => void;

/** A server that was started where it will run. */
export type StartedServer = {
  readonly endpoint: ServerEndpoint;
  readonly startMs: number;
  /** The first lines of its output. */
  readonly output: readonly string[];
  /** See `StartResult`. */
  readonly bridge?: BridgeKind;
  readonly incomplete?: Incomplete;
  /** Stops it: the build starts it by itself to find out more. */
  readonly withdraw: () => Promise<void>;
};

/** A server that was neither ready nor had failed there within the limit for a start, and is stopped again. */
export type LateServer = {
  readonly endpoint: null;
  readonly output: readonly string[];
  /** Null if the runner doesn't say. */
  readonly late: LateStart | null;
};

export type BuildRequest = {
  readonly buildId: string;
  readonly organizationId: string;
  /** Empty: to be found in the commit. */
  readonly entrypoint: string;
  readonly arguments: readonly string[];
  readonly requirements: string | null;
  /** Layers of an earlier build to take over: then the server is only inspected. Null: make them from the commit. */
  readonly layers: Layers | null;
  /** Versions of an earlier build of this source, to be installed again if they are available. Null: any. */
  readonly resolution: Resolution | null;
  readonly rootDirectory: string | null;
  /** The source is a published package, which the user can't change. */
  readonly isPackage: boolean;
  /** In towpath-cloud the gateway authenticates callers, and their credentials never reach the server (GW-4). */
  readonly authMode: AuthMode;
  /** Environment of the server during inspection: secrets and TOWPATH_CLOUD_* (RUN-4). */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Starts the server where it will run, so that a build starts it once; after a change of code alone a prewarmed
   * interpreter waits there. Resolves to null if it doesn't start there. Null: not for this build.
   */
  readonly startInPlace:
    | ((
        built: { readonly layers: Layers; readonly program: Program },
        signal: AbortSignal,
      ) => Promise<StartedServer | LateServer | null>)
    | null;
  /**
   * Opens the commit's gzipped tarball, with one top-level directory as at GitHub. Users see the messages of its
   * errors.
   */
  readonly openTarball: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  /** What users can do if it can't be opened. */
  readonly sourceRemedy: string;
  readonly log: BuildLogSink;
  readonly signal: AbortSignal;
};

export type BuildResult =
  | {
      readonly ok: true;
      readonly layers: Layers;
      /** The installed versions; null if layers were taken over. */
      readonly resolution: Resolution | null;
      /** The program to start. */
      readonly program: Program;
      /** Null if the server does its own sign-in and its lists can't be read: see `warnings`. */
      readonly manifest: BuildManifest;
      /** That the server names for itself. */
      readonly icons: readonly ServerIcon[];
      /** Answers for gateways while the server is asleep (GW-12); null if they couldn't be recorded. */
      readonly recording: Recording | null;
      readonly warnings: readonly BuildWarning[];
      /** Whether the server refused a caller without credentials. */
      readonly ownSignIn: boolean;
      readonly timings: BuildTimings;
    }
  | {
      readonly ok: false;
      readonly diagnosis: Diagnosis;
      readonly timings: BuildTimings;
    };
