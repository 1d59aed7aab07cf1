import { getRequest } from "@tanstack/react-start/server";
import { parseInput } from "@towpath/core/input";
import type { z } from "zod";
import { requestSchema } from "./rest/request-schema.ts";
import { refuseUnknown } from "./rest/unknown-fields.ts";

// Not in access.ts, which the browser's bundle includes: parseInput must stay on the server.

/** What the middlewares in access.ts read; a function that needs it nowhere else leaves it out of its schema. */
const placeNames: ReadonlySet<string> = new Set(["orgSlug", "organizationId", "projectName", "buildId"]);

/**
 * Validator of a server function. One that changes something refuses what it doesn't know, as REST does (decision 051): a
 * misspelled restriction would be none.
 *
 * @throws TowpathError `invalid_input` with a message for each invalid field; `unknown_field`
 */
export const input =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: z.input<Schema>): z.output<Schema> => {
    if (getRequest().method === "POST") refuseUnknown("field", requestSchema(schema), withoutPlace(value));
    return parseInput(schema, value);
  };

function withoutPlace(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof FormData) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !placeNames.has(name)));
}
