import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { listSecretRows, requireSecretBox } from "./secret.store.ts";

/**
 * The decrypted secrets of a project for one environment, for the process that starts the server (RUN-4).
 *
 * @throws when one of them can't be decrypted: a server must not start with a missing variable
 */
export async function readEnvironment(call: {
  ctx: Context;
  input: { readonly projectId: string; readonly environment: "production" | "preview" };
}): Promise<Readonly<Record<string, string>>> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const rows = await listSecretRows(ctx.db, input.projectId, input.environment);
  if (rows.length === 0) return {};
  const box = requireSecretBox(ctx);
  return Object.fromEntries(rows.map((row) => [row.keyName, box.decrypt(row)]));
}

/** Redacting shorter values ("1", "true", "eu"), which occur everywhere, would make logs unreadable. */
const minRedactedLength = 6;

/** Returns a function that replaces secret values in a text with their names (KEY-4). */
export function redactor(secrets: Readonly<Record<string, string>>): (text: string) => string {
  const hidden = Object.entries(secrets)
    .flatMap(([name, value]) => [value, ...value.split("\n")].map((part) => ({ name, part: part.trim() })))
    .filter(({ part }) => part.length >= minRedactedLength)
    // Longest first, so that a value that contains another one is replaced completely.
    .toSorted((one, other) => other.part.length - one.part.length);
  if (hidden.length === 0) return (text) => text;
  return (text) => hidden.reduce((rest, { name, part }) => rest.replaceAll(part, `[${name}]`), text);
}
