import type { Diagnosis, DiagnosisAction } from "@towpath/core/build/contract";

export type UvContext = {
  /** The file that lists the dependencies, relative to the root directory; null when there is none. */
  readonly file: string | null;
  readonly pythonVersion: string;
  /** Packages that require a package, by its name; nothing of one that only the project requires, or where uv resolves nothing. */
  readonly requirers?: ReadonlyMap<string, readonly string[]>;
};

/** What uv printed, and what it says of the project. `output`: all of it, lines as they were. */
export type Rule = {
  readonly pattern: RegExp;
  readonly say: (match: RegExpExecArray, context: UvContext, output: string) => Parts;
};
export type Parts = Pick<Diagnosis, "code" | "title" | "detail" | "remedy"> & {
  readonly file?: string | null;
  /** A change of the code, if omitted: what it requires can't be installed. */
  readonly action?: DiagnosisAction;
};

/** Where the dependencies are listed, for a sentence. */
export const place = ({ file }: UvContext) => (file === null ? "the dependencies" : `\`${file}\``);
