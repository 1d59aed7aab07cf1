import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import { storableText } from "../../input/index.ts";
import type { AuthMode } from "../../projects/project/project.schema.ts";
import {
  type BuildManifest,
  type BuildTimings,
  type BuildWarning,
  buildPhases,
  buildWarningSchema,
  type Diagnosis,
  type DiagnosisAction,
  diagnosisSchema,
  type Layers,
  layersSchema,
  type Program,
  programSchema,
  type Resolution,
  resolutionSchema,
  signInWarning,
} from "./build-contract.schema.ts";

/**
 * Parses a JSON column of `build`. Rows may be of another version: null for a value that doesn't parse, so that an old
 * build's page still opens.
 */
function read<Schema extends z.ZodType>(schema: Schema, stored: unknown): z.output<Schema> | null {
  const parsed = schema.safeParse(stored);
  return parsed.success ? parsed.data : null;
}

export const readLayers = (stored: unknown): Layers | null => read(layersSchema, stored);
export const readProgram = (stored: unknown): Program | null => read(programSchema, stored);
export const readResolution = (stored: unknown): Resolution | null => read(resolutionSchema, stored);
export const readManifest = (stored: unknown): BuildManifest => read(manifestSchema, stored);

export function readTimings(stored: unknown): BuildTimings {
  const all = read(z.record(z.string(), z.number()), stored) ?? {};
  return Object.fromEntries(buildPhases.flatMap((phase) => (all[phase] === undefined ? [] : [[phase, all[phase]]])));
}

/** Keeps the texts of a row of another version whose code, phase or action is unknown to this one. */
const storedDiagnosisSchema = diagnosisSchema.extend({
  code: diagnosisSchema.shape.code.catch("internal_error"),
  phase: diagnosisSchema.shape.phase.catch("fetch"),
  file: diagnosisSchema.shape.file.default(null),
  line: diagnosisSchema.shape.line.default(null),
  excerpt: diagnosisSchema.shape.excerpt.default(null),
  action: diagnosisSchema.shape.action.catch({ kind: "rebuild" }),
});

/** Earlier versions stored some actions as `fix`, and none for other failures: then building again is offered. */
const withAction = (stored: unknown): unknown =>
  typeof stored === "object" && stored !== null && "fix" in stored && !("action" in stored)
    ? { ...stored, action: stored.fix }
    : stored;

export const readDiagnosis = (stored: unknown): Diagnosis | null => read(storedDiagnosisSchema, withAction(stored));

type StoredWarnings = { readonly warnings: unknown; readonly ownSignIn: boolean | null };

/**
 * A build's warnings, with the one about its server's own sign-in as the auth mode is now. Drops those that are unknown
 * to this version.
 */
export function readWarnings({ warnings, ownSignIn }: StoredWarnings, authMode: AuthMode): readonly BuildWarning[] {
  const stored = Array.isArray(warnings) ? warnings.flatMap((each) => read(buildWarningSchema, each) ?? []) : [];
  const others = stored.filter(({ code }) => code !== "sign_in_unreachable");
  // Earlier versions stored this warning in place of what it follows from.
  const known = ownSignIn ?? (others.length < stored.length ? true : null);
  const signIn = signInWarning(known, authMode);
  return signIn === null ? others : [signIn, ...others];
}

/** A diagnosis may quote a tenant's server. */
export function storableDiagnosis(diagnosis: Diagnosis): Diagnosis {
  const { title, detail, remedy, file, excerpt, action } = diagnosis;
  return {
    ...diagnosis,
    title: storableText(title),
    detail: storableText(detail),
    remedy: storableText(remedy),
    file: file === null ? null : storableText(file),
    excerpt: excerpt === null ? null : storableText(excerpt),
    action: storableAction(action),
  };
}

function storableAction(action: DiagnosisAction): DiagnosisAction {
  switch (action.kind) {
    case "variables":
      return { ...action, names: action.names.map(storableText) };
    case "entrypoint":
    case "root-directory":
      return { ...action, candidates: action.candidates.map(storableText) };
    case "code":
      return { ...action, path: action.path === null ? null : storableText(action.path) };
    default:
      return action;
  }
}

export const storableWarning = ({ code, title, detail, remedy }: BuildWarning): BuildWarning => ({
  code,
  title: storableText(title),
  detail: storableText(detail),
  remedy: storableText(remedy),
});
