import { type Schema, Validator } from "@cfworker/json-schema";
import {
  type RJSFSchema,
  type RJSFValidationError,
  toErrorSchema,
  type ValidationData,
  type ValidatorType,
} from "@rjsf/utils";

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

type OutputUnit = { keyword: string; instanceLocation: string; error: string };

/** Validates without `eval`, which the page's policy forbids. Works on a copy, which the validator annotates. */
function validate(schema: RJSFSchema, data: unknown): OutputUnit[] {
  const validator = new Validator(structuredClone(schema) as Schema, "2020-12", false);
  return validator.validate(data).errors;
}

function pathOf(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A validation error as the form shows it: at its field, reworded where that is shorter. */
function toFormError(unit: OutputUnit): RJSFValidationError {
  const path = pathOf(unit.instanceLocation);
  const missing = unit.keyword === "required" ? /^[^"]*property "(.*)"\.$/.exec(unit.error)?.[1] : undefined;
  if (missing !== undefined) path.push(missing);
  const message = missing === undefined ? unit.error.replace(/^Instance /, "This ") : "Required";
  const property = path.map((part) => (/^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `['${part}']`)).join("");
  return { name: unit.keyword, property, message, stack: `${path.join(".") || "arguments"}: ${message}` };
}

/** Checks form data for @rjsf with @cfworker/json-schema, draft 2020-12. */
export const schemaValidator: ValidatorType = {
  validateFormData(formData, schema): ValidationData<unknown> {
    const errors = schemaValidator.rawValidation<OutputUnit>(schema, formData).errors ?? [];
    const shown = errors
      .filter((unit) => !wrappers.has(unit.keyword))
      .slice(0, maxErrors)
      .map(toFormError);
    return { errors: shown, errorSchema: toErrorSchema(shown) };
  },
  isValid(schema, formData, rootSchema) {
    try {
      const withDefinitions = { ...schema, $defs: rootSchema.$defs, definitions: rootSchema.definitions };
      return validate(JSON.parse(JSON.stringify(withDefinitions)), formData).length === 0;
    } catch {
      return false;
    }
  },
  rawValidation<Result>(schema: RJSFSchema, formData?: unknown) {
    try {
      return { errors: validate(schema, formData) as Result[] };
    } catch (error) {
      return { validationError: error instanceof Error ? error : new Error(String(error)) };
    }
  },
};
