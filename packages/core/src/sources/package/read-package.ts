import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import type { PackageReleases } from "../../ports/index.ts";
import { packageNameSchema } from "./package.schema.ts";

const inputSchema = z.object({ name: packageNameSchema });
/** A form offers no more to choose from; older ones can be typed. */
const maxReleases = 50;

/**
 * A package of the index with its newest versions, for somebody who may deploy it.
 *
 * @throws TowpathError `invalid_input`, `not_found`, `upstream_unavailable`
 */
export async function readPackage(call: {
  ctx: Context<"packages">;
  input: z.input<typeof inputSchema> & { readonly orgSlug: string };
}): Promise<PackageReleases> {
  const { ctx } = call;
  await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { name, releases } = await ctx.packages.releases(parseInput(inputSchema, call.input).name);
  return { name, releases: releases.slice(0, maxReleases) };
}
