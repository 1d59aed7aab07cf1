import type { Diagnosis, DiagnosisAction } from "@towpath/core/delivery/build/contract";
import { changeCode, changeCodeBy } from "../failure.ts";
import { byDistance } from "../install/find-python.ts";
import type { StepContext } from "../install/run-step.ts";
import { allows } from "../plan/choose-python.ts";
import { isList } from "./module-missing.ts";

/** A message of uv, and its meaning for the project. `output`: all of it, with its original lines. */
export type Rule = {
  readonly pattern: RegExp;
  readonly explain: (match: RegExpExecArray, context: StepContext, output: string) => Explanation;
};
export type Explanation = Pick<Diagnosis, "code" | "title" | "detail" | "remedy"> & {
  /** The file that lists the dependencies, if omitted. */
  readonly file?: string | null;
  /** If omitted, a change of the code: its requirements can't be installed. */
  readonly action?: DiagnosisAction;
};

/** Where the dependencies are listed, for a sentence. */
export const place = ({ file }: StepContext) => (file === null ? "the dependencies" : `\`${file}\``);

/** What requires a package: the package `by`, or the project if that is null. */
export const requiring = (by: string | null, context: StepContext) =>
  by === null ? place(context) : `\`${by}\`, on which the project depends,`;

/** Ends a failure by another requirement in the project's list. */
export const byRequiring = (
  requirement: string,
  { file }: StepContext,
  insteadOf: string | null = null,
): DiagnosisAction =>
  isList(file) ? changeCodeBy({ kind: "require", file, requirements: [requirement], insteadOf }) : changeCode;

/** The same by dropping one. */
export const byDropping = (name: string, { file }: StepContext): DiagnosisAction =>
  isList(file) ? changeCodeBy({ kind: "drop", file, name }) : changeCode;

/** Versions of Python that FastMCP supports, and that can be had. */
const minors = [10, 11, 12, 13, 14];

/** The same by the nearest Python that a range allows. */
export function byPython(range: string | null, { pythonVersion }: StepContext): DiagnosisAction {
  const current = Number(pythonVersion.split(".")[1] ?? 0);
  const others = byDistance(current, minors).filter((minor) => minor !== current);
  const minor = range === null ? undefined : others.find((each) => allows(range, `3.${each}`));
  return changeCodeBy(minor === undefined ? null : { kind: "python", file: ".python-version", version: `3.${minor}` });
}
