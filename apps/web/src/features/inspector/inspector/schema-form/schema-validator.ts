import {
  type RJSFSchema,
  type RJSFValidationError,
  toErrorSchema,
  type ValidationData,
  type ValidatorType,
} from "@rjsf/utils";
import { type ArgumentProblem, type OutputUnit, problemsOf, validate } from "./argument-problems.ts";

/** A problem as the form shows it: at its field. */
function toFormError({ keyword, path, message }: ArgumentProblem): RJSFValidationError {
  const property = path.map((part) => (/^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `['${part}']`)).join("");
  return { name: keyword, property, message, stack: `${path.join(".") || "arguments"}: ${message}` };
}

/** Checks form data for @rjsf with @cfworker/json-schema, draft 2020-12. */
export const schemaValidator: ValidatorType = {
  validateFormData(formData, schema): ValidationData<unknown> {
    const errors = schemaValidator.rawValidation<OutputUnit>(schema, formData).errors ?? [];
    const shown = problemsOf(errors).map(toFormError);
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
