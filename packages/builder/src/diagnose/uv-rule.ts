import type { Diagnosis, DiagnosisAction } from "@towpath/core/delivery/build/contract";
import type { StepContext } from "../install/run-step.ts";

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
