import { type Schema, Validator } from "@cfworker/json-schema";
import type { Json } from "~/features/shared/project-screen/json.ts";

/** Errors that only wrap the nested error to show. */
const wrappers = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalProperties",
  "$ref",
  "allOf",
  "then",
  "else",
]);
const maxErrors = 50;

export type OutputUnit = { keyword: string; instanceLocation: string; error: string };

/** What is wrong with a value, and where: the names and positions that lead to it. */
export type ArgumentProblem = { readonly keyword: string; readonly path: readonly string[]; readonly message: string };

/** Validates without `eval`, which the page's policy forbids. Works on a copy, which the validator annotates. */
export function validate(schema: Json, data: unknown): OutputUnit[] {
  const validator = new Validator(structuredClone(schema) as Schema, "2020-12", false);
  return validator.validate(data).errors;
}

/** The problems to show, reworded where that is shorter. */
export function problemsOf(errors: readonly OutputUnit[]): readonly ArgumentProblem[] {
  return errors
    .filter((unit) => !wrappers.has(unit.keyword))
    .slice(0, maxErrors)
    .map(toProblem);
}

/** What the schema doesn't allow in these arguments. */
export const argumentProblems = (schema: Json, data: unknown): readonly ArgumentProblem[] =>
  problemsOf(validate(schema, data));

function toProblem({ keyword, instanceLocation, error }: OutputUnit): ArgumentProblem {
  const path = pathOf(instanceLocation);
  const missing = keyword === "required" ? /^[^"]*property "(.*)"\.$/.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { keyword, path: [...path, missing], message: "Required" };
  return { keyword, path, message: error.replace(/^Instance /, "This ") };
}

function pathOf(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}
