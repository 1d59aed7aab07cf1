import { parseInput } from "@towpath/core/input";
import type { z } from "zod";
import { requestSchema } from "./rest/request-schema.ts";
import { refuseUnknown } from "./rest/unknown-fields.ts";

// Not in access.ts, which the browser's bundle includes: parseInput must stay on the server.

/**
 * What the middlewares in access.ts read, and the other parameters of routes, which loaders pass on whole: a function that
 * doesn't need them leaves them out of its schema.
 */
const placeNames: ReadonlySet<string> = new Set([
  ...["orgSlug", "organizationId", "projectName", "buildId"],
  ...["toolName", "promptName", "resourceName", "templateName", "sessionId", "userId", "deploymentId"],
]);

/**
 * Validator of a server function, which refuses what it doesn't know, as REST does (decision 051): a misspelled restriction
 * or filter would be none.
 *
 * @throws TowpathError `invalid_input` with a message for each invalid field; `unknown_field`
 */
export const input =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: z.input<Schema>): z.output<Schema> => {
    refuseUnknown("field", requestSchema(schema), withoutPlace(value));
    return parseInput(schema, value);
  };

/** The same where no loader calls, and a parameter of a route would be mistaken for a restriction. */
export const exactInput =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: z.input<Schema>): z.output<Schema> => {
    refuseUnknown("field", requestSchema(schema), value);
    return parseInput(schema, value);
  };

function withoutPlace(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof FormData) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !placeNames.has(name)));
}
