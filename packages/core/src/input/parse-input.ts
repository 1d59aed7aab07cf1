import type { z } from "zod";
import { TowpathError } from "../errors/index.ts";

/**
 * Parses a verb's input. The first problem of each field becomes its text, under the dotted path of the field.
 *
 * @throws TowpathError `invalid_input`, whose message is the text of the first problem.
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) {
    const path = issue.path.map(String).join(".");
    fields[path] ??= issue.message;
  }
  throw new TowpathError("invalid_input", Object.values(fields)[0] ?? "The input is not valid.", { fields });
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be an id at all. PostgreSQL would refuse another one with an error instead of "not found". */
export const isId = (value: unknown): value is string => typeof value === "string" && uuidPattern.test(value);

/**
 * For what cannot be undone: people type the name of what they delete.
 *
 * @throws TowpathError `invalid_input` with `fields.confirmation`
 */
export function requireConfirmation(given: unknown, name: string): void {
  if (given === name) return;
  const message = `Type ${name} to confirm that it is to be deleted.`;
  throw new TowpathError("invalid_input", message, { fields: { confirmation: message } });
}
