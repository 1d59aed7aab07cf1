import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import { externalUrlSchema } from "./external-server.schema.ts";
import { refusedInspection, requireElsewhere } from "./external-server.store.ts";

/**
 * Whether anything answers at a server's address (ORG-9): the first step before `createExternalServer`, which asks what it
 * offers. Sends no credential.
 *
 * @throws TowpathError `invalid_input` with `fields.url` for an address that is none, isn't on the public internet, or
 * where nothing answers
 */
export async function reachExternalServer({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly url: string }, "externalServers">): Promise<{ readonly host: string }> {
  await authorize(ctx, "project.create", { orgSlug: input.orgSlug });
  const { url } = parseInput(reachSchema, input);
  requireElsewhere(ctx, url);
  const problem = await ctx.externalServers.reach(url);
  if (problem) throw refusedInspection(problem);
  return { host: new URL(url).host };
}

const reachSchema = z.object({ url: externalUrlSchema });
