import type { z } from "zod";
import { TowpathError } from "../errors/index.ts";
import { issueText } from "./issue-text.ts";

export { oneLine, storableText } from "./shown-text.ts";

/**
 * Parses a verb's input.
 *
 * @throws TowpathError `invalid_input` with the first problem as message, and the first problem of each field in
 * `fields` by the field's dotted path
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: issueText });
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) {
    const path = issue.path.map(String).join(".");
    fields[path] ??= issue.message;
  }
  throw new TowpathError("invalid_input", Object.values(fields)[0] ?? "The input is not valid.", { fields });
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a value is a UUID. Check before a query: PostgreSQL throws on other values instead of finding nothing. */
export const isId = (value: unknown): value is string => typeof value === "string" && uuidPattern.test(value);

/**
 * For actions that can't be undone: users must type the name of what they delete.
 *
 * @throws TowpathError `invalid_input` with `fields.confirmation`
 */
export function requireConfirmation(given: unknown, name: string): void {
  if (given === name) return;
  const message = `Type ${name} to confirm the deletion.`;
  throw new TowpathError("invalid_input", message, { fields: { confirmation: message } });
}
