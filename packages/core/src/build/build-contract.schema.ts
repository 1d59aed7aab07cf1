import type { Manifest } from "@towpath/mcp/manifest";
import { z } from "zod";

/**
 * The vocabulary of builds, shared by builder, worker, build log, REST, terminal and dashboard. Declare these nowhere
 * else. Browser-safe: imports zod only.
 */

/** BLD-1. */
export const buildStatuses = ["queued", "building", "succeeded", "failed", "canceled"] as const;
export const buildStatusSchema = z.enum(buildStatuses);
export type BuildStatus = z.infer<typeof buildStatusSchema>;

const buildTriggers = ["quickstart", "import", "push", "redeploy", "cli"] as const;
export const buildTriggerSchema = z.enum(buildTriggers);
export type BuildTrigger = z.infer<typeof buildTriggerSchema>;

/** In the order in which they run. */
export const buildPhases = ["fetch", "plan", "install", "inspect", "rollout"] as const;
const buildPhaseSchema = z.enum(buildPhases);
export type BuildPhase = z.infer<typeof buildPhaseSchema>;

/** `step`: what Towpath does and why. `output`: output of a tool. */
const buildLogKinds = ["step", "output", "warning", "error"] as const;
const buildLogKindSchema = z.enum(buildLogKinds);
export type BuildLogKind = z.infer<typeof buildLogKindSchema>;

/** A line to write. */
export type BuildLogLine = {
  readonly time: Date;
  readonly phase: BuildPhase;
  readonly kind: BuildLogKind;
  readonly text: string;
};

/** A line as read: a `line` event of `/api/builds/{id}/log`. */
export const buildLogEntrySchema = z.object({
  /** 1, 2, 3, … within the build. */
  line: z.number().int(),
  /** ISO 8601, UTC, milliseconds. */
  time: z.string(),
  phase: buildPhaseSchema,
  kind: buildLogKindSchema,
  text: z.string(),
});
export type BuildLogEntry = z.infer<typeof buildLogEntrySchema>;

/** Wall time by phase in milliseconds; absent for phases that haven't run. */
export type BuildTimings = Readonly<Partial<Record<BuildPhase, number>>>;

const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

/** Content-addressed results of a build: SHA-256 digests of the dependency and the code layer. */
export const layersSchema = z.object({ pythonVersion: z.string(), dependencies: digestSchema, code: digestSchema });
export type Layers = z.infer<typeof layersSchema>;

const diagnosisCodes = [
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
] as const;
export type DiagnosisCode = (typeof diagnosisCodes)[number];

/** Why a build failed, as shown to users: what happened, where, what to do (BLD-2). */
export const diagnosisSchema = z.object({
  code: z.enum(diagnosisCodes),
  phase: buildPhaseSchema,
  /** One line: what happened. */
  title: z.string(),
  /** Where and why, a sentence or two; may quote the server's own message. */
  detail: z.string(),
  /** What to do about it, in the imperative. */
  remedy: z.string(),
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  /** The relevant last lines of a traceback or of a tool's output. */
  excerpt: z.string().nullable(),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;

const buildWarningCodes = [
  "python_replaced",
  "nothing_offered",
  "list_failed",
  "lists_not_read",
  "sign_in_unreachable",
] as const;

/** A problem that didn't fail the build. */
export const buildWarningSchema = z.object({
  code: z.enum(buildWarningCodes),
  /** One line: the problem. */
  title: z.string(),
  /** Where and why, a sentence or two; may quote the server's own message. */
  detail: z.string(),
  /** What to do about it, in the imperative. */
  remedy: z.string(),
});
export type BuildWarning = z.infer<typeof buildWarningSchema>;

/** What the inspected server offers; null before the inspection, and when the server didn't disclose its lists. */
export type BuildManifest = Manifest | null;
