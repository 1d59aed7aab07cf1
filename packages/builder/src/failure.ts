import type { Diagnosis } from "@towpath/core/build/contract";

/** How a step of the build ends it: with a diagnosis for people. Never leaves this package; `build` turns it into a result. */
export class BuildFailure extends Error {
  readonly diagnosis: Diagnosis;

  constructor(diagnosis: Diagnosis, cause?: unknown) {
    super(diagnosis.title, { cause });
    this.name = "BuildFailure";
    this.diagnosis = diagnosis;
  }
}

type Required = Pick<Diagnosis, "code" | "phase" | "title" | "detail" | "remedy">;

/** A diagnosis; place and excerpt are null unless given. */
export function diagnosis(required: Required, more: Partial<Omit<Diagnosis, keyof Required>> = {}): Diagnosis {
  return { file: null, line: null, excerpt: null, ...more, ...required };
}
