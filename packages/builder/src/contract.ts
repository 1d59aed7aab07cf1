import type { AuthMode } from "@towpath/core/project/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { z } from "zod";

export const buildPhases = ["fetch", "plan", "install", "inspect", "rollout"] as const;
export type BuildPhase = (typeof buildPhases)[number];

/** `step`: what Towpath does and why. `output`: what a tool printed. */
export type BuildLogKind = "step" | "output" | "warning" | "error";

export type BuildLogSink = (phase: BuildPhase, kind: BuildLogKind, text: string) => void;

/** Content-addressed results of a build: folder names below `artifacts/deps` and `artifacts/code`. */
export const layersSchema = z.object({
  pythonVersion: z.string(),
  dependencies: z.string().regex(/^[0-9a-f]{64}$/),
  code: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Layers = z.infer<typeof layersSchema>;

/** Why a build failed, for people: what happened, where, what to do (BLD-2). */
export const diagnosisSchema = z.object({
  code: z.enum([
    "source_unavailable",
    "source_too_large",
    "source_unsafe",
    "entrypoint_not_found",
    "requirements_not_found",
    "invalid_project_file",
    "lock_outdated",
    "python_unavailable",
    "dependency_conflict",
    "dependency_not_found",
    "dependency_build_failed",
    "index_unreachable",
    "syntax_error",
    "module_missing",
    "import_failed",
    "variable_missing",
    "object_missing",
    "unsupported_object",
    "factory_failed",
    "lifespan_failed",
    "mcp_version_mismatch",
    "start_timeout",
    "exited_early",
    "out_of_memory",
    "output_limit",
    "protocol_error",
    "build_timeout",
    "internal_error",
  ]),
  phase: z.enum(buildPhases),
  /** One line: what happened. */
  title: z.string(),
  /** Where and why, a sentence or two; may quote the server's own message. */
  detail: z.string(),
  /** What to do about it, imperative. */
  remedy: z.string(),
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  /** The last lines that explain it: traceback or tool output. */
  excerpt: z.string().nullable(),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;

/** A problem that did not fail the build; kept with it. */
export const buildWarningSchema = z.object({
  code: z.enum(["python_replaced", "nothing_offered", "list_failed", "lists_not_read", "sign_in_unreachable"]),
  /** One line: the problem. */
  title: z.string(),
  /** Where and why, a sentence or two; may quote the server's own message. */
  detail: z.string(),
  /** What to do about it, imperative. */
  remedy: z.string(),
});
export type BuildWarning = z.infer<typeof buildWarningSchema>;

export type BuildRequest = {
  readonly buildId: string;
  readonly organizationId: string;
  readonly entrypoint: string;
  readonly requirements: string | null;
  readonly rootDirectory: string | null;
  /** Who checks callers: in towpath-cloud the gateway does, and their credentials never reach the server (GW-4). */
  readonly authMode: AuthMode;
  /** Environment of the server while it is inspected: secrets and TOWPATH_CLOUD_* (RUN-4). */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Opens the gzipped tarball of the commit; one folder at its top, as GitHub makes them. The message of what it
   * throws is shown to people.
   */
  readonly openTarball: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  readonly log: BuildLogSink;
  readonly signal: AbortSignal;
};

export type BuildResult =
  | {
      readonly ok: true;
      readonly layers: Layers;
      /** Null when the server checks sign-ins itself and its lists can't be read: see `warnings`. */
      readonly manifest: Manifest | null;
      readonly warnings: readonly BuildWarning[];
      /** Milliseconds by phase. */
      readonly timings: Readonly<Partial<Record<BuildPhase, number>>>;
    }
  | {
      readonly ok: false;
      readonly diagnosis: Diagnosis;
      readonly timings: Readonly<Partial<Record<BuildPhase, number>>>;
    };
