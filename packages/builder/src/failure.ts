import type {
  BuildPhase,
  Diagnosis,
  DiagnosisAction,
  DiagnosisCode,
  RepositoryChange,
  SettingsSection,
} from "@towpath/core/delivery/build/contract";
import type { HarnessStatus } from "@towpath/runtime";

/** The harness's report of a server that can't be served. */
export type HarnessFailure = Extract<HarnessStatus, { state: "failed" }>;

/** Why a build, or one attempt of it, failed. `status`: the harness's report; null if there is none. */
export type Failure = { readonly diagnosis: Diagnosis; readonly status: HarnessFailure | null };

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

/** The texts of a diagnosis, and where the cause lies, if known. */
type Texts = Pick<Diagnosis, "title" | "detail" | "remedy"> & Partial<Pick<Diagnosis, "file" | "line" | "excerpt">>;

/** @param action how to fix the failure */
export const diagnosis = (
  phase: BuildPhase,
  code: DiagnosisCode,
  action: DiagnosisAction,
  texts: Texts,
): Diagnosis => ({
  file: null,
  line: null,
  excerpt: null,
  ...texts,
  phase,
  code,
  action,
});

/** Ends a phase with a diagnosis for the build's users. Never leaves this package: `build` turns it into a result. */
export class BuildFailure extends Error {
  readonly diagnosis: Diagnosis;

  constructor(diagnosis: Diagnosis, cause?: unknown) {
    super(diagnosis.title, { cause });
    this.name = "BuildFailure";
    this.diagnosis = diagnosis;
  }
}

/** To throw: see `diagnosis`. */
export const failed = (...found: Parameters<typeof diagnosis>): BuildFailure => new BuildFailure(diagnosis(...found));

/** For failures that only a change of the code fixes; the build adds the file's path in the repository. */
export const changeCode: DiagnosisAction = { kind: "code", path: null };
/** The same by a known change, whose file is within the root directory, as that of the diagnosis; null: by none. */
export const changeCodeBy = (change: RepositoryChange | null): DiagnosisAction =>
  change === null ? changeCode : { kind: "code", path: null, change };
export const rebuild: DiagnosisAction = { kind: "rebuild" };
export const askOperator: DiagnosisAction = { kind: "operator" };
export const changeSettings = (section: SettingsSection): DiagnosisAction => ({ kind: "settings", section });

/** "1 file", "2 files": for nouns with a regular plural. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** "300 MB": whole mebibytes, as people call them. */
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** "60 seconds", rounded. */
export const seconds = (ms: number): string => countOf(Math.round(ms / 1000), "second");

/** "`a`, `b`": names as code, for a sentence. */
export const quoted = (names: readonly string[], separator = ", "): string =>
  names.map((name) => `\`${name}\``).join(separator);
