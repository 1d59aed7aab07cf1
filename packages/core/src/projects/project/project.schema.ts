import { z } from "zod";
import { initialAccessSchema } from "../../calling/access/access.schema.ts";
import { initialSecretsSchema } from "../secret/secret.schema.ts";
import { argumentsSchema } from "./arguments.schema.ts";
import { checkQuestionsSchema } from "./check-questions.schema.ts";
import { entrypointSchema, entrypointSettingSchema, requirementsSchema } from "./entrypoint.schema.ts";
import { replaySettingSchema } from "./replay.schema.ts";
import { rootDirectorySchema, watchPathsSchema } from "./watch-paths.schema.ts";

export {
  argumentsProblem,
  argumentsSchema,
  argumentsText,
  argumentsTextProblem,
  splitArguments,
} from "./arguments.schema.ts";
export {
  entrypointProblem,
  entrypointSchema,
  entrypointSettingProblem,
  entrypointSettingSchema,
  requirementsProblem,
  requirementsSchema,
} from "./entrypoint.schema.ts";
export { rootDirectoryProblem, watchPathsProblem } from "./watch-paths.schema.ts";

const namePattern = /^[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]$/;
const nameLength = { min: 6, max: 32 };
const nameTexts = {
  missing: "Project name is required",
  short: `Project name must be at least ${nameLength.min} characters long`,
  long: `Project name must be ${nameLength.max} characters or less`,
  pattern: "Project name must start and end with a letter or number, contain only letters, numbers, and hyphens",
};

/** VAL-1. Reports only the first problem of a name. */
export const projectNameSchema = z
  .string({ error: nameTexts.missing })
  .min(1, { error: nameTexts.missing, abort: true })
  .min(nameLength.min, { error: nameTexts.short, abort: true })
  .max(nameLength.max, { error: nameTexts.long, abort: true })
  .regex(namePattern, { error: nameTexts.pattern });

/** What `projectNameSchema` reports, for forms, which do without zod; null: nothing. */
export function projectNameProblem(name: string): string | null {
  if (name === "") return nameTexts.missing;
  if (name.length < nameLength.min) return nameTexts.short;
  if (name.length > nameLength.max) return nameTexts.long;
  return namePattern.test(name) ? null : nameTexts.pattern;
}

/** A repository's name as a server name, null when it cannot be one (VAL-1). */
export function serverNameFrom(repository: string): string | null {
  const name = repository
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replace(/^-|-$/g, "");
  return projectNameProblem(name) === null ? name : null;
}

/** `hosted`: built here from a repository; `external`: runs elsewhere; `portal`: offers what other servers have. */
export const projectKinds = ["hosted", "external", "portal"] as const;
export type ProjectKind = (typeof projectKinds)[number];

/** The kind of a stored project. */
export const projectKindOf = (row: { readonly kind: string }): ProjectKind =>
  projectKinds.find((kind) => kind === row.kind) ?? "hosted";

/**
 * Who may call a server (PRJ-12). `passthrough`: the server authenticates itself; `towpath-cloud`: members;
 * `towpath-public`: anybody.
 */
const authModes = ["passthrough", "towpath-cloud", "towpath-public"] as const;
export const authModeSchema = z.enum(authModes, { error: "Choose who may call the server" });
export type AuthMode = z.infer<typeof authModeSchema>;

/** Who may call a new server or portal, wherever it is made, unless somebody chooses otherwise. */
export const defaultAuthMode = "towpath-cloud" satisfies AuthMode;

/**
 * Whether lists are answered without waking a sleeping server (GW-12). `stable`: where the build saw the same lists for
 * two callers; `always`: even where it didn't.
 */
const sleepingListsChoices = ["off", "stable", "always"] as const;
export const sleepingListsSchema = z.enum(sleepingListsChoices, {
  error: "Choose whether lists are answered while the server is asleep: off, stable or always",
});
export type SleepingLists = z.infer<typeof sleepingListsSchema>;

/** A full commit id: SHA-1 or SHA-256. */
export const commitShaSchema = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "A commit is named by its full id");

/** A commit of a build. */
export const commitSchema = z.object({
  sha: commitShaSchema,
  message: z
    .string()
    .nullish()
    .transform((message) => message?.slice(0, 10_000) ?? null),
  author: z
    .string()
    .nullish()
    .transform((author) => author?.slice(0, 200) ?? null),
});
export type Commit = z.output<typeof commitSchema>;

/** What is built: a commit, or a version of a package, which is identified like one (`versionCommit`). */
export type BuildSource = Commit & { readonly packageVersion?: string | null };

export const repositorySchema = z.object({
  id: z.number().int().positive(),
  fullName: z.string().regex(/^[\w.-]+\/[\w.-]+$/, "A repository is named owner/name"),
  private: z.boolean(),
  defaultBranch: z.string().min(1).max(255),
});
export type Repository = z.output<typeof repositorySchema>;

const description = z
  .string()
  .trim()
  .max(500, "Description must be 500 characters or less")
  .nullish()
  .transform((value) => (value ? value : null));

/** How many callers with values of their own are served at a time, each by an instance of their own (CAP-1). */
export const callerInstancesSchema = z.int().min(1, "At least one").max(1000, "At most 1000");

const maxProbeCharacters = 4096;
const plainArgument = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const flatArgument = z.union([plainArgument, z.array(plainArgument)]);
const probeArguments = z.record(z.string(), z.union([flatArgument, z.record(z.string(), flatArgument)]), {
  error: "An object of texts, numbers, lists of these, and objects that have no further objects in them",
});

/**
 * A tool call by which a person's values are checked once they have entered them, in their own instance (CAP-1). Not for
 * secrets: settings are shown and exported.
 */
export const callerProbeSchema = z.object({
  tool: z.string().trim().min(1, "Name a tool").max(255, "Tool name is too long (max 255 characters)"),
  arguments: probeArguments
    .default({})
    .refine((given) => JSON.stringify(given).length <= maxProbeCharacters, `At most ${maxProbeCharacters} characters`)
    .refine((given) => !JSON.stringify(given).includes("\\u0000"), "Arguments cannot contain a NUL character"),
});
export type CallerProbe = z.output<typeof callerProbeSchema>;

/** How long results of calls are kept for a client that asks again (CAP-2); 0: they aren't. */
export const keepResultsMinutesSchema = z
  .int({ error: "Enter a whole number of minutes, or 0 to keep no results" })
  .min(0, "Enter 0 or more minutes")
  .max(1440, "Enter at most 1440 minutes, which are a day");

/** How long a call may run without its client. */
export const unattendedMinutesSchema = z
  .int({ error: "Enter a whole number of minutes" })
  .min(1, "Enter at least one minute")
  .max(1440, "Enter at most 1440 minutes, which are a day");

/** Settings with defaults of their own, which a form for a new server doesn't ask for. */
const laterSettings = {
  watchPaths: watchPathsSchema.optional(),
  /** Whether the check of a preview fails that breaks callers of production (BLD-14). */
  failOnBreakingChanges: z.boolean().optional(),
  identityAssertion: z.boolean().optional(),
  sleepingLists: sleepingListsSchema.optional(),
  keepsData: z.boolean().optional(),
  callerInstances: callerInstancesSchema.optional(),
  /** Null: values are not checked. */
  callerProbe: callerProbeSchema.nullable().optional(),
  /** Until then a client that asks again gets the result of its call; 0: never. */
  keepResultsMinutes: keepResultsMinutesSchema.optional(),
  /** A redeploy and a server that would sleep wait so long for calls whose client has left. */
  unattendedMinutes: unattendedMinutesSchema.optional(),
  /** Null: no call is sampled, and none is replayed. */
  replay: replaySettingSchema.nullable().optional(),
  /** Asked of a model with the tools of production and of a preview. */
  checkQuestions: checkQuestionsSchema.optional(),
};

export const deployProjectSchema = z.object({
  name: projectNameSchema,
  description,
  installationId: z.number().int().positive(),
  /** owner/name */
  repositoryFullName: repositorySchema.shape.fullName,
  /** Empty or absent: found in the commit. */
  entrypoint: entrypointSettingSchema.default(""),
  /** Of the program that the entrypoint starts. Never secrets: they are shown and logged. */
  arguments: argumentsSchema.default([]),
  requirements: requirementsSchema,
  /** In it the entrypoint and the requirements file are looked for. */
  rootDirectory: rootDirectorySchema,
  authMode: authModeSchema.default(defaultAuthMode),
  isPublic: z.boolean().default(false),
  /** Whether request logs keep payloads (GW-7). */
  capturePayloads: z.boolean().default(false),
  ...laterSettings,
  trigger: z.enum(["quickstart", "import", "cli", "package"]),
  /** Default: the newest commit of the default branch. */
  commitSha: commitShaSchema.optional(),
  secrets: initialSecretsSchema,
  /** Who may call it from the beginning, for those who may decide that; absent: the defaults. */
  access: initialAccessSchema.optional(),
});
export type DeployProjectInput = z.input<typeof deployProjectSchema> & { readonly orgSlug: string };

/** How long a renamed project is found under a former name. */
export const formerNameDays = 90;

export const releaseNameSchema = z.object({ name: z.string().min(1).max(100) });

/** Failures of one error in an hour from which on it is reported (CAP-6); null: never. */
export const errorsPerHourSchema = z
  .int({ error: "Enter a whole number of failures an hour, or null to report none" })
  .min(1, "Enter at least one failure an hour")
  .max(1_000_000, "Enter at most 1,000,000 failures an hour")
  .nullable();

/** Absent fields don't change. Entrypoint, arguments, requirements and root directory take effect with the next build. */
export const updateProjectSchema = z.object({
  name: projectNameSchema.optional(),
  description: description.optional(),
  /** Null: each build finds it in its commit. Empty is refused (VAL-2). */
  entrypoint: entrypointSchema.nullish(),
  arguments: argumentsSchema.optional(),
  requirements: requirementsSchema.optional(),
  rootDirectory: rootDirectorySchema.optional(),
  ...laterSettings,
  authMode: authModeSchema.optional(),
  isPublic: z.boolean().optional(),
  capturePayloads: z.boolean().optional(),
  errorsPerHour: errorsPerHourSchema.optional(),
  /** Whether newer versions of its package are built (BLD-17). */
  followsPackage: z.boolean().optional(),
});
export type UpdateProjectInput = z.input<typeof updateProjectSchema> & {
  readonly orgSlug: string;
  readonly projectName: string;
};

/** Filters of the servers screen (ORG-2). `open`: anybody may call the server; `private`: all others. */
export const projectListSchema = z.object({
  type: z.enum(["all", "private", "open"]).default("all"),
  text: z.string().max(200).default(""),
});
export type ListProjectsInput = z.input<typeof projectListSchema> & { readonly orgSlug: string };
