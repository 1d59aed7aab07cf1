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
