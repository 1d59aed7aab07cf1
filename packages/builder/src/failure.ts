import { posix } from "node:path";
import type { BuildPhase, Diagnosis, DiagnosisAction, SettingsSection } from "@towpath/core/build/contract";
import type { SandboxError } from "@towpath/runtime";
import type { SourceTree } from "./fetch/source-tree.ts";

/** Ends a build with a diagnosis for its users. Never leaves this package: `build` turns it into a result. */
export class BuildFailure extends Error {
  readonly diagnosis: Diagnosis;
  /** A requirement with which the same code may work, such as `mcp<2`; null when none is known. */
  readonly requirement: string | null;
  /** The program ended itself and says why. It may be the right one, so no other is tried. */
  readonly saysWhy: boolean;
  /** The same code may work if the project is installed as a package, instead of being imported from the repository. */
  readonly needsInstallation: boolean;
  /** With the releases of that day the same code may work. `when`: what it is the day of, the end of a sentence. */
  readonly time: { readonly day: Date; readonly when: string } | null;
  /** A package that needs what another one has no more: both work in the versions of its release's day. */
  readonly outgrown: string | null;
  /** Commands of the program by which it may start the server, the likeliest first. */
  readonly commands: readonly string[];

  constructor(
    diagnosis: Diagnosis,
    cause?: unknown,
    {
      requirement = null,
      saysWhy = false,
      needsInstallation = false,
      commands = [],
      time = null,
      outgrown = null,
    }: Partial<WaysOut> = {},
  ) {
    super(diagnosis.title, { cause });
    this.name = "BuildFailure";
    this.diagnosis = diagnosis;
    this.requirement = requirement;
    this.saysWhy = saysWhy;
    this.needsInstallation = needsInstallation;
    this.commands = commands;
    this.time = time;
    this.outgrown = outgrown;
  }
}

type WaysOut = Omit<BuildFailure, keyof Error | "diagnosis">;

type Required = Pick<Diagnosis, "code" | "phase" | "title" | "detail" | "remedy" | "action">;

/** Of failures that only a change of the code ends; the build adds where the file lies in the repository. */
export const changeCode: DiagnosisAction = { kind: "code", path: null };
export const rebuild: DiagnosisAction = { kind: "rebuild" };
export const askOperator: DiagnosisAction = { kind: "operator" };
export const changeSettings = (section: SettingsSection): DiagnosisAction => ({ kind: "settings", section });

/** A diagnosis; file, line and excerpt are null unless given. */
export function diagnosis(required: Required, more: Partial<Omit<Diagnosis, keyof Required>> = {}): Diagnosis {
  return { file: null, line: null, excerpt: null, ...more, ...required };
}

/** "1 file", "2 files": for nouns with a regular plural. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** "300 MB": whole mebibytes, as people call them. */
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** "60 seconds", rounded. */
export const seconds = (ms: number): string => countOf(Math.round(ms / 1000), "second");

export const notFetched = (error: unknown, remedy: string) =>
  diagnosis({
    code: "source_unavailable",
    phase: "fetch",
    title: "The commit can't be fetched",
    detail: error instanceof Error ? error.message : "Its host gave no reason.",
    remedy,
    action: rebuild,
  });

export const rootMissing = (root: string) =>
  diagnosis(
    {
      code: "source_unavailable",
      phase: "fetch",
      title: `The root directory ${root} does not exist`,
      detail: "It is set under Settings → Build, but the commit has no files there.",
      remedy: "Correct the root directory under Settings → Build, or leave it empty for the whole repository.",
      action: changeSettings("build"),
    },
    { file: root },
  );

export const tooLong = (phase: BuildPhase, limitMs: number) =>
  diagnosis({
    code: "build_timeout",
    phase,
    title: "The build took too long",
    detail: `It was stopped after ${countOf(Math.round(limitMs / 60_000), "minute")}, in the ${phase} phase.`,
    remedy:
      "The times in the log show what was slow. Choose dependencies that have a wheel, or make the server start faster.",
    action: rebuild,
  });

export const notIsolated = (phase: BuildPhase, error: SandboxError) =>
  diagnosis({
    code: "internal_error",
    phase,
    title: "This platform can't isolate builds at the moment",
    detail: error.message,
    remedy: "Tell the operator. Nothing is wrong with the repository.",
    action: askOperator,
  });

/** Adds where the repository has the file of a failure that a change of the code ends. */
export function located(found: Diagnosis, source: SourceTree | null): Diagnosis {
  const { action, file } = found;
  if (action.kind !== "code" || source === null || !source.entries.some(({ path }) => path === file)) return found;
  return { ...found, action: { kind: "code", path: posix.join(source.subPath, file ?? "") } };
}
