import { randomToken } from "@towpath/crypto";
import { domain, project } from "@towpath/db/schema";
import { and, asc, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { domainSchema, maxDomains } from "./domain.schema.ts";
import { type DomainView, domainView, hostOf } from "./domain.view.ts";

type OneDomain = ProjectScope & { readonly domain: string };

/** The domains of a server or portal, oldest first (OPS-12). */
export async function listDomains({ ctx, input }: Call<ProjectScope>): Promise<readonly DomainView[]> {
  const { project: found } = await authorizeProject(ctx, "project.read", input);
  const rows = await ctx.db
    .select()
    .from(domain)
    .where(eq(domain.projectId, found.id))
    .orderBy(asc(domain.createdAt), asc(domain.id));
  return rows.map((row) => domainView(row, ctx.serverUrlTemplate, found.name));
}

/**
 * Asks for a domain of its own for a server or portal (OPS-12). It leads there once its DNS records were seen.
 *
 * @throws TowpathError `invalid_input` with `fields.domain` for what is no domain or is the instance's own, `conflict`
 *   for one that the server has, `limit_reached` for too many
 */
export async function addDomain({ ctx, input }: Call<OneDomain>): Promise<DomainView> {
  const { project: found, organization } = await authorizeProject(ctx, "project.update", input);
  const { domain: name } = parseInput(domainSchema, input);
  requireForeign(ctx, name);
  return ctx.db.transaction(async (tx) => {
    // Counts one after the other.
    await tx.select({ id: project.id }).from(project).where(eq(project.id, found.id)).for("no key update");
    const count = await tx.$count(domain, eq(domain.projectId, found.id));
    if (count >= maxDomains)
      throw new TowpathError("limit_reached", `A server can have ${maxDomains} domains. Remove one first.`);
    const now = ctx.clock.now();
    const [row] = await tx
      .insert(domain)
      .values({ id: newId(), projectId: found.id, name, token: randomToken(), createdAt: now, nextCheckAt: now })
      .onConflictDoNothing({ target: [domain.projectId, domain.name] })
      .returning();
    if (!row) throw new TowpathError("conflict", `This server has the domain ${name} already.`);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: found.id,
      action: "domain.add",
      subject: found.name,
      detail: { domain: name },
    });
    return domainView(row, ctx.serverUrlTemplate, found.name);
  });
}

/** Below its own names an instance has names of its own, and someone else's cookies. */
function requireForeign(ctx: Context, name: string): void {
  const servers = hostOf(ctx.serverUrlTemplate, "name").replace(/^name\./, "");
  const own = [servers, new URL(ctx.dashboardUrl).hostname].find((host) => name === host || name.endsWith(`.${host}`));
  if (own === undefined) return;
  const message = `Names at ${own} belong to this instance. Rename the server to change its name there.`;
  throw new TowpathError("invalid_input", message, { fields: { domain: message } });
}

/**
 * Removes a domain from a server: it stops leading there at once (OPS-12).
 *
 * @throws TowpathError `not_found` for one that the server doesn't have
 */
export async function removeDomain({ ctx, input }: Call<OneDomain>): Promise<void> {
  const { project: found, organization } = await authorizeProject(ctx, "project.update", input);
  const { domain: name } = parseInput(domainSchema, input);
  await ctx.db.transaction(async (tx) => {
    const own = and(eq(domain.projectId, found.id), eq(domain.name, name));
    const removed = await tx.delete(domain).where(own).returning({ id: domain.id });
    if (removed.length === 0) throw notFound("domain");
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: found.id,
      action: "domain.remove",
      subject: found.name,
      detail: { domain: name },
    });
  });
}
