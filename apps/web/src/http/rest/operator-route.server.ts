import type { Context } from "@towpath/core/context";
import { notFound } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { ensureLocalOrganization } from "@towpath/core/organization";
import { getProject, type ProjectDetailView } from "@towpath/core/project";
import { organization, project } from "@towpath/db/schema";
import { eq, sql } from "drizzle-orm";
import type { z } from "zod";
import { operatorContext } from "~/http/caller.server.ts";
import { answering } from "~/http/error-response.server.ts";
import { parseJsonObject, readBody } from "~/http/request.server.ts";

const maxBytes = 64 * 1024;

/** A REST route of the operator: token first, then `work`, whose result is the JSON answer (OPS-4). */
export const operatorRoute = (request: Request, work: (ctx: Context) => Promise<unknown>): Promise<Response> =>
  answering(request, async () => Response.json(await work(await operatorContext(request))));

/** @throws TowpathError `invalid_input` with a text for each faulty field. */
export async function jsonBody<Schema extends z.ZodType>(request: Request, schema: Schema): Promise<z.output<Schema>> {
  return parseInput(schema, parseJsonObject(await readBody(request, maxBytes)));
}

/** The organization that the operator names by its slug, else the instance's own. */
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
 * A project by its name alone: names are unique on the whole instance, and the operator acts in every organization.
 * Only for the operator: this is the one place that looks without a tenant.
 */
export async function operatorProject(ctx: Context, name: string): Promise<ProjectDetailView> {
  const found = await findOperatorProject(ctx, name);
  // The CLI calls projects servers.
  if (!found) throw notFound("server");
  return found;
}

/** As `operatorProject`; null when there is none of this name. */
export async function findOperatorProject(ctx: Context, name: string): Promise<ProjectDetailView | null> {
  const [found] =
    ctx.actor.kind === "operator"
      ? await ctx.db
          .select({ id: project.id })
          .from(project)
          .where(eq(sql`lower(${project.name})`, name.toLowerCase()))
      : [];
  return found ? getProject({ ctx, input: { projectId: found.id } }) : null;
}
