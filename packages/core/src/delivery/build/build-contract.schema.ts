import type { Manifest } from "@towpath/mcp/manifest";
import { z } from "zod";
import type { AuthMode } from "../../projects/project/project.schema.ts";

/**
 * The vocabulary of builds, shared by builder, worker, build log, REST, terminal and dashboard. Declare these nowhere
 * else. Browser-safe: imports zod only.
 */

/** BLD-1. */
export const buildStatuses = ["queued", "building", "succeeded", "failed", "canceled"] as const;
export const buildStatusSchema = z.enum(buildStatuses);
export type BuildStatus = z.infer<typeof buildStatusSchema>;

/** Of a build or deployment, as people and programs read it. */
export const packageVersionView = z.string().nullable().describe("of a package; null for a commit");

const buildTriggers = ["quickstart", "import", "push", "redeploy", "cli", "promote", "package"] as const;
export const buildTriggerSchema = z.enum(buildTriggers);
export type BuildTrigger = z.infer<typeof buildTriggerSchema>;

/** In the order in which they run. */
export const buildPhases = ["fetch", "plan", "install", "inspect", "rollout"] as const;
const buildPhaseSchema = z.enum(buildPhases);
export type BuildPhase = z.infer<typeof buildPhaseSchema>;

/** `step`: what Towpath does and why. `result`: the outcome of a phase, in a few words. `output`: output of a tool. */
const buildLogKinds = ["step", "result", "output", "warning", "error"] as const;
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

/**
 * What a build installed, so that it can be built again as it was. `pins`: such as `fastmcp==4.1.2`; null when they
 * aren't known, and where a lock in the repository has them. `at`: when they were resolved, ISO 8601.
 */
export const resolutionSchema = z.object({
  pythonVersion: z.string(),
  pins: z.array(z.string()).nullable(),
  at: z.iso.datetime(),
});
export type Resolution = z.infer<typeof resolutionSchema>;

/**
 * What a build starts. `entrypoint`: as in the project's settings, or as found in the commit. `arguments`: those after
 * the program's name.
 */
export const programSchema = z.object({ entrypoint: z.string(), arguments: z.array(z.string()) });
export type Program = z.infer<typeof programSchema>;

/** What the harness reports of a server that can't be served. The list in its status.py is the same. */
export const harnessFailureCodes = [
  "entrypoint_not_found",
  "syntax_error",
  "module_missing",
  "import_failed",
  "variable_missing",
  "object_missing",
  "unsupported_object",
  "factory_failed",
  "lifespan_failed",
  "mcp_version_mismatch",
  "keyword_removed",
  "dependency_mismatch",
  "native_library_missing",
  "program_missing",
  "host_unreachable",
  "read_only",
  "arguments_missing",
  "exited_early",
] as const;
export type HarnessFailureCode = (typeof harnessFailureCodes)[number];

const diagnosisCodes = [
  ...harnessFailureCodes,
  "source_unavailable",
  "source_too_large",
  "source_unsafe",
  "requirements_not_found",
  "invalid_project_file",
  "lock_outdated",
  "python_unavailable",
  "dependency_conflict",
  "dependency_not_found",
  "dependency_build_failed",
  "index_unreachable",
  "start_timeout",
  "out_of_memory",
  "output_limit",
  "protocol_error",
  "build_timeout",
  "internal_error",
] as const;
export type DiagnosisCode = (typeof diagnosisCodes)[number];

/** Parts of a project's settings that a build depends on. */
const settingsSections = ["build", "variables", "package"] as const;
export type SettingsSection = (typeof settingsSections)[number];

/** A change of the repository that ends a failure. `file`: from the top of the repository. */
const repositoryChangeSchema = z.discriminatedUnion("kind", [
  /** List these, each in place of what is required of the same package, or of `insteadOf`. */
  z.object({
    kind: z.literal("require"),
    file: z.string(),
    requirements: z.array(z.string()).min(1),
    insteadOf: z.string().nullable(),
  }),
  /** No longer list what is required of a package. */
  z.object({ kind: z.literal("drop"), file: z.string(), name: z.string() }),
  /** Request a Python in `.python-version`, and allow it in `requires-python` beside it. */
  z.object({ kind: z.literal("python"), file: z.string(), version: z.string() }),
  z.object({ kind: z.literal("delete"), file: z.string() }),
]);
export type RepositoryChange = z.infer<typeof repositoryChangeSchema>;

/**
 * What ends a failure, decided where the diagnosis is made. Page, REST and terminal offer this and nothing else: building
 * again only where that can help.
 */
const diagnosisActionSchema = z.discriminatedUnion("kind", [
  /** Build the same commit again: the cause is not in it, and may be gone. */
  z.object({ kind: z.literal("rebuild") }),
  /** The operator has to do something, then build again. */
  z.object({ kind: z.literal("operator") }),
  /** Change the settings, then build again. */
  z.object({ kind: z.literal("settings"), section: z.enum(settingsSections) }),
  /** Set the entrypoint to one of these, the likeliest first, then build again. */
  z.object({ kind: z.literal("entrypoint"), candidates: z.array(z.string()).min(1) }),
  /** Set the root directory to one of these, which have a server, then build again. */
  z.object({ kind: z.literal("root-directory"), candidates: z.array(z.string()).min(1) }),
  /** Store values for these environment variables, then build again. */
  z.object({ kind: z.literal("variables"), names: z.array(z.string()).min(1) }),
  /**
   * Change the code. `path`: of the diagnosis's file, from the top of the repository; null when the commit lacks it. `change`:
   * where it is known.
   */
  z.object({ kind: z.literal("code"), path: z.string().nullable(), change: repositoryChangeSchema.optional() }),
]);
export type DiagnosisAction = z.infer<typeof diagnosisActionSchema>;

const quoted = (word: string): string => (/^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The terminal's command for what ends a failure in the settings; null where there is none. `NAME` stands for the server. */
export function terminalCommand(action: DiagnosisAction): string | null {
  switch (action.kind) {
    case "entrypoint":
    case "root-directory":
      return `./towpath settings NAME --${action.kind} ${quoted(action.candidates[0] ?? "")}`;
    case "variables":
      return `./towpath env NAME set ${action.names.map((name) => `${name}=…`).join(" ")}`;
    case "settings":
      return settingsCommands[action.section];
    default:
      return null;
  }
}

export const settingsCommands: Readonly<Record<SettingsSection, string>> = {
  build: "./towpath settings NAME --entrypoint … --args '…'",
  variables: "./towpath env NAME set KEY=…",
  package: "./towpath deploy pypi:PACKAGE==VERSION --name NAME",
};

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
  action: diagnosisActionSchema,
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;

const buildWarningCodes = [
  "source_incomplete",
  "python_replaced",
  "lock_renewed",
  "older_dependencies",
  "requirement_added",
  "other_servers",
  "empty_passed_over",
  "bridged",
  "nothing_offered",
  "incomplete",
  "list_failed",
  "lists_not_read",
  "sign_in_unreachable",
  "sign_in_hidden",
  "open_to_anyone",
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

const letTheServerDecide =
  "Let the server decide who can call it, under Access or by `./towpath settings NAME --auth passthrough`: that takes effect at once. Or remove the server's own sign-in and deploy again.";

const signInUnreachable: BuildWarning = {
  code: "sign_in_unreachable",
  title: "Nobody can call this server yet",
  detail:
    "The server does its own sign-in, but only members can call it: Towpath then checks callers itself and never passes their credentials on, so the server refuses every call.",
  remedy: letTheServerDecide,
};

const signInHidden: BuildWarning = {
  code: "sign_in_hidden",
  title: "Clients can't find this server's sign-in",
  detail:
    "The server does its own sign-in, but it is set to be open to anyone: Towpath then doesn't serve the server's sign-in documents, so only callers that already have a token get in.",
  remedy: letTheServerDecide,
};

const openToAnyone: BuildWarning = {
  code: "open_to_anyone",
  title: "Anyone can call this server",
  detail: "The server decides who can call it, and it answered the build without asking for credentials.",
  remedy:
    "Add a sign-in to the server and deploy again, or choose under Access that only members can call it. If only some of its tools ask for credentials, that is fine.",
};

/**
 * What is wrong with how callers are authenticated, as the auth mode is now; null when nothing is, or nothing is known.
 * Computed when it is shown, because the mode changes without a build. `ownSignIn`: whether the server refused a caller
 * without credentials; null: unknown.
 */
export function signInWarning(ownSignIn: boolean | null, authMode: AuthMode): BuildWarning | null {
  if (ownSignIn === null) return null;
  switch (authMode) {
    case "towpath-cloud":
      return ownSignIn ? signInUnreachable : null;
    case "towpath-public":
      return ownSignIn ? signInHidden : null;
    case "passthrough":
      return ownSignIn ? null : openToAnyone;
  }
}

/** What the inspected server offers; null before the inspection, and when the server didn't disclose its lists. */
export type BuildManifest = Manifest | null;
