import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import type { RegistryEntry } from "./server-json.schema.ts";

const inputSchema = z.object({ search: z.string().trim().max(200, "Search for 200 characters or less") });

/**
 * Servers of this instance's registry whose names contain a text, in their latest versions, for somebody who may deploy
 * them.
 *
 * @throws TowpathError `not_configured` where the operator switched the registry off, `upstream_unavailable`
 */
export async function searchServerRegistry(call: {
  ctx: Context<"serverRegistry">;
  input: z.input<typeof inputSchema> & { readonly orgSlug: string };
}): Promise<{ readonly host: string; readonly entries: readonly RegistryEntry[] }> {
  const { ctx } = call;
  await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const registry = ctx.serverRegistry;
  if (!registry)
    throw new TowpathError("not_configured", "This instance has no registry to search. Paste a server.json instead.");
  const { search } = parseInput(inputSchema, call.input);
  return { host: registry.host, entries: await registry.search(search) };
}
