import { z } from "zod";
import { checkQuestionsSchema } from "../../projects/project/check-questions.schema.ts";
import {
  argumentsSchema,
  authModeSchema,
  callerInstancesSchema,
  callerProbeSchema,
  commitShaSchema,
  entrypointSettingSchema,
  errorsPerHourSchema,
  keepResultsMinutesSchema,
  projectNameSchema,
  requirementsSchema,
  sleepingListsSchema,
  unattendedMinutesSchema,
} from "../../projects/project/project.schema.ts";
import { replaySettingSchema } from "../../projects/project/replay.schema.ts";
import { rootDirectorySchema, watchPathsSchema } from "../../projects/project/watch-paths.schema.ts";
import { secretEnvironments, secretKeyNameSchema } from "../../projects/secret/secret.schema.ts";
import { programSchema } from "../build/build-contract.schema.ts";

/** Raised when an earlier release can't read an export any more. */
export const exportFormat = 1;

const ofBranch = { branch: z.string().min(1).max(255), commit: commitShaSchema };

/** Where the exported commit or version comes from. `hasHistory`: the export has a bundle of its repository. */
const exportedSourceSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("repository"), name: z.string(), ...ofBranch, hasHistory: z.boolean() }),
  z.object({ kind: z.literal("git"), url: z.url(), ...ofBranch }),
  /** `fullName`: owner/name */
  z.object({ kind: z.literal("github"), fullName: z.string(), ...ofBranch }),
  z.object({ kind: z.literal("package"), name: z.string(), version: z.string(), follows: z.boolean() }),
]);

/** As `PATCH /projects/{name}` takes them. `entrypoint`: empty: each build finds it. */
const exportedSettingsSchema = z.object({
  description: z.string().max(500).nullable(),
  entrypoint: entrypointSettingSchema,
  arguments: argumentsSchema,
  requirements: requirementsSchema,
  rootDirectory: rootDirectorySchema,
  watchPaths: watchPathsSchema,
  failOnBreakingChanges: z.boolean(),
  authMode: authModeSchema,
  isPublic: z.boolean(),
  capturePayloads: z.boolean(),
  identityAssertion: z.boolean(),
  sleepingLists: sleepingListsSchema,
  keepsData: z.boolean(),
  // Exports of earlier releases lack these.
  errorsPerHour: errorsPerHourSchema.default(null),
  callerInstances: callerInstancesSchema.default(20),
  callerProbe: callerProbeSchema.nullable().default(null),
  keepResultsMinutes: keepResultsMinutesSchema.default(10),
  unattendedMinutes: unattendedMinutesSchema.default(60),
  replay: replaySettingSchema.nullable().default(null),
  checkQuestions: checkQuestionsSchema.prefault({}),
});

/** `towpath.json` of an export (OPS-8): the server without code and without values of variables. */
export const exportDocumentSchema = z.object({
  format: z.literal(exportFormat),
  exportedAt: z.iso.datetime(),
  name: projectNameSchema,
  /** Such as `3.12.4`: which packages are needed may depend on all of it. */
  python: z.string().regex(/^3\.\d{1,2}\.\w{1,8}$/),
  /** What starts the exported version: as set, or as its build found it. */
  program: programSchema,
  source: exportedSourceSchema,
  settings: exportedSettingsSchema,
  /** Who may call, and which tools; null: the defaults. Keys belong to the instance, so none is named. */
  access: z
    .object({
      roles: z.array(z.string()),
      apiKeys: z.enum(["all", "chosen"]),
      tools: z.union([z.literal("all"), z.array(z.string())]),
    })
    .nullable(),
  variables: z.array(
    z.object({
      keyName: secretKeyNameSchema,
      description: z.string().max(500).nullable(),
      sensitive: z.boolean(),
      /** Exports of earlier releases lack it. */
      perCaller: z.boolean().default(false),
      environments: z.array(z.enum(secretEnvironments)).min(1),
    }),
  ),
});
export type ExportDocument = z.output<typeof exportDocumentSchema>;
