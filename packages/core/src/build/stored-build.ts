import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import type { AuthMode } from "../project/project.schema.ts";
import {
  type BuildManifest,
  type BuildTimings,
  type BuildWarning,
  buildPhases,
  buildWarningSchema,
  type Diagnosis,
  type DiagnosisFix,
  diagnosisSchema,
  type Layers,
  layersSchema,
  type Program,
  programSchema,
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
export const readManifest = (stored: unknown): BuildManifest => read(manifestSchema, stored);

export function readTimings(stored: unknown): BuildTimings {
  const all = read(z.record(z.string(), z.number()), stored) ?? {};
  return Object.fromEntries(buildPhases.flatMap((phase) => (all[phase] === undefined ? [] : [[phase, all[phase]]])));
}

/** Keeps the texts of a row of another version whose code or phase is unknown to this one. */
const storedDiagnosisSchema = diagnosisSchema.extend({
  code: diagnosisSchema.shape.code.catch("internal_error"),
  phase: diagnosisSchema.shape.phase.catch("fetch"),
  file: diagnosisSchema.shape.file.default(null),
  line: diagnosisSchema.shape.line.default(null),
  excerpt: diagnosisSchema.shape.excerpt.default(null),
  fix: diagnosisSchema.shape.fix.catch(undefined),
});
export const readDiagnosis = (stored: unknown): Diagnosis | null => read(storedDiagnosisSchema, stored);

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

/** jsonb rejects NUL and unpaired surrogates, which a diagnosis may quote from a tenant's server. */
const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

export function storableDiagnosis(diagnosis: Diagnosis): Diagnosis {
  const { title, detail, remedy, file, excerpt, fix } = diagnosis;
  return {
    ...diagnosis,
    title: storable(title),
    detail: storable(detail),
    remedy: storable(remedy),
    file: file === null ? null : storable(file),
    excerpt: excerpt === null ? null : storable(excerpt),
    ...(fix && { fix: storableFix(fix) }),
  };
}

const storableFix = (fix: DiagnosisFix): DiagnosisFix =>
  fix.kind === "variables"
    ? { ...fix, names: fix.names.map(storable) }
    : { ...fix, candidates: fix.candidates.map(storable) };

export const storableWarning = ({ code, title, detail, remedy }: BuildWarning): BuildWarning => ({
  code,
  title: storable(title),
  detail: storable(detail),
  remedy: storable(remedy),
});
