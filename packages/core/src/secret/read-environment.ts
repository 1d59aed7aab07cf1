import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { listSecretRows, requireSecretBox } from "./secret.store.ts";

/**
 * The secrets of a project for one environment, in clear, for the process that starts the server (RUN-4).
 *
 * @throws when one of them does not decrypt: a server must not start with a variable missing.
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

/** Shorter values ("1", "true", "eu") occur everywhere by chance; hiding them would make the log unreadable. */
const minHiddenLength = 6;

/** Replaces the values of a project's secrets in a text: servers and tools print what they are given (KEY-4). */
export function redactor(secrets: Readonly<Record<string, string>>): (text: string) => string {
  const hidden = Object.entries(secrets)
    .flatMap(([name, value]) => [value, ...value.split("\n")].map((part) => ({ name, part: part.trim() })))
    .filter(({ part }) => part.length >= minHiddenLength)
    // The longest first: a part of another value must not leave the rest of it behind.
    .toSorted((one, other) => other.part.length - one.part.length);
  if (hidden.length === 0) return (text) => text;
  return (text) => hidden.reduce((rest, { name, part }) => rest.replaceAll(part, `[${name}]`), text);
}
