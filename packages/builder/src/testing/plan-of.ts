import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import { expect } from "vitest";
import { BuildFailure } from "../failure.ts";
import { makePlan, type Plan } from "../plan/plan.ts";
import type { PlanSettings, SourceFacts } from "../source/facts.ts";

/** Facts of a repository with these files. */
export function factsOf(files: Record<string, string>): SourceFacts {
  return {
    paths: new Set(Object.keys(files)),
    texts: new Map(Object.entries(files)),
    code: new Map(),
    digest: "d".repeat(64),
    context: null,
  };
}

/** The plan of a repository with these files and its entrypoint. */
export const planOf = (files: Record<string, string>, settings: Partial<PlanSettings> = {}): Plan =>
  makePlan(factsOf({ "server.py": "x = 1\n", ...files }), {
    entrypoint: "server.py",
    arguments: [],
    requirements: null,
    rootDirectory: null,
    ...settings,
  });

/** The diagnosis of a plan that fails. */
export function failureOf(make: () => unknown): Diagnosis {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(BuildFailure);
    return (error as BuildFailure).diagnosis;
  }
  throw new Error("the plan was made");
}

/** A plan's lines in the build log. */
export const log = (plan: Plan) => plan.log.map(({ text }) => text).join("\n");
