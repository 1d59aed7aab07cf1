import type { Context } from "@towpath/core/context";
import { notFound } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { ensureLocalOrganization } from "@towpath/core/organization";
import { findProjectOfInstance, type ProjectDetailView } from "@towpath/core/project";
import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { z } from "zod";
import { operatorContext } from "~/http/caller.server.ts";
import { parseJsonObject, readBody, respond } from "~/http/request.server.ts";

const maxBodyBytes = 64 * 1024;

/** A REST route for the operator (OPS-4): checks the token, then responds with the result of `work` as JSON. */
export const operatorRoute = (request: Request, work: (ctx: Context) => Promise<unknown>): Promise<Response> =>
  respond(request, async () => Response.json(await work(await operatorContext(request))));

/** The body, of at most 64 KiB by default, parsed. @throws TowpathError `invalid_input` with a message for each invalid field. */
export async function jsonBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  maxBytes = maxBodyBytes,
): Promise<z.output<Schema>> {
  return parseInput(schema, parseJsonObject(await readBody(request, maxBytes)));
}

/** The slug of the organization that the operator names, otherwise of the instance's own. */
export async function operatorOrganization(ctx: Context, slug: string | undefined): Promise<string> {
  if (!slug) return (await ensureLocalOrganization({ ctx })).slug;
  const [found] = await ctx.db
    .select({ slug: organization.slug })
    .from(organization)
    .where(eq(organization.slug, slug));
  if (!found) throw notFound("organization");
  return found.slug;
}

/**
 * A project by its name, a former one or its id alone.
 *
 * @throws TowpathError `not_found`
 */
export async function operatorProject(ctx: Context, name: string): Promise<ProjectDetailView> {
  const found = await findProjectOfInstance({ ctx, input: { name } });
  // The CLI calls projects servers.
  if (!found) throw notFound("server");
  return found;
}
