import { parseInput } from "@towpath/core/input";
import type { z } from "zod";
import { requestSchema } from "./rest/request-schema.ts";
import { refuseUnknown } from "./rest/unknown-fields.ts";

// Not in access.ts, which the browser's bundle includes: parseInput must stay on the server.

/**
 * Fields that the middlewares in access.ts read, and other parameters of routes, which loaders pass on as a whole:
 * schemas of functions that don't need them omit them.
 */
const placeNames: ReadonlySet<string> = new Set([
  "orgSlug",
  "organizationId",
  "projectName",
  "buildId",
  "itemKind",
  "itemName",
  "sessionId",
  "userId",
  "deploymentId",
  "errorId",
]);

/**
 * Validator of a server function, which refuses unknown fields, like REST (decision 051): a misspelled restriction or
 * filter would have no effect.
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
