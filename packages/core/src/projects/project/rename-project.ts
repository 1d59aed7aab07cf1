import type { Transaction } from "@towpath/db";
import { deployment, formerName, project, route } from "@towpath/db/schema";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { lockLabels } from "../label/index.ts";
import { requireFreeName } from "./check-project-name.ts";
import { formerNameDays, releaseNameSchema } from "./project.schema.ts";

/** Each former name keeps others from taking it, so that a project has only a few. */
const maxFormerNames = 5;

const ofProject = (projectId: string) => and(eq(formerName.projectId, projectId), gt(formerName.expiresAt, sql`now()`));

/**
 * Moves a project's address to another name (PRJ-11). Its server answers at both addresses, and pages lead to the new
 * one, until the former name expires or is released; nobody else gets it before. Previews keep their addresses, which
 * pull requests name, until their branch ends. The caller changes the project's row.
 *
 * @throws TowpathError `invalid_input` with `fields.name` for one that is taken or reserved, `conflict` for too many
 *   former names
 */
export async function moveToName(
  tx: Transaction,
  ctx: Context,
  { projectId, name }: { readonly projectId: string; readonly name: string },
): Promise<void> {
  // Locks the project before labels, as everywhere.
  const [before] = await tx
    .select({ name: sql<string>`lower(${project.name})` })
    .from(project)
    .where(eq(project.id, projectId))
    .for("no key update");
  if (!before) throw notFound("server");
  const label = name.toLowerCase();
  // Only its spelling changes.
  if (label === before.name) return;
  await lockLabels(tx);
  await requireFreeName(tx, name, projectId);
  await tx.delete(formerName).where(and(eq(formerName.projectId, projectId), eq(formerName.name, label)));
  if ((await tx.$count(formerName, ofProject(projectId))) >= maxFormerNames) throw tooManyFormerNames();
  const now = ctx.clock.now();
  const kept = { projectId, createdAt: now, expiresAt: new Date(now.getTime() + formerNameDays * 86_400_000) };
  await tx
    .insert(formerName)
    .values({ name: before.name, ...kept })
    // An expired one that the sweep has not removed yet.
    .onConflictDoUpdate({ target: formerName.name, set: kept });
  const ofLabel = { label: before.name, projectId };
  await tx
    .update(route)
    .set({ label, updatedAt: now })
    .where(and(eq(route.label, ofLabel.label), eq(route.projectId, projectId)));
  // Servers get their address when they start.
  await tx
    .update(deployment)
    .set({ slug: label })
    .where(and(eq(deployment.projectId, projectId), eq(deployment.slug, before.name)));
}

const tooManyFormerNames = () => {
  const message = `This server already has ${maxFormerNames} former names. Release one first.`;
  return new TowpathError("conflict", message);
};

/** A name that a project had before, and until when it leads there. */
export type FormerNameView = { readonly name: string; readonly expiresAt: string };

/** The former names that lead to a project, the newest last. */
export async function listFormerNames(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<readonly FormerNameView[]> {
  const { ctx } = call;
  const { project: found } = await authorizeProject(ctx, "project.read", call.input);
  const rows = await ctx.db
    .select({ name: formerName.name, expiresAt: formerName.expiresAt })
    .from(formerName)
    .where(ofProject(found.id))
    .orderBy(asc(formerName.expiresAt), asc(formerName.name));
  return rows.map(({ name, expiresAt }) => ({ name, expiresAt: expiresAt.toISOString() }));
}

/**
 * Gives up a former name: its address stops working at once, and anybody can take it (PRJ-11).
 *
 * @throws TowpathError `not_found` for one that doesn't lead to this project
 */
export async function releaseFormerName(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string; readonly name: string };
}): Promise<void> {
  const { ctx } = call;
  const { project: found, organization } = await authorizeProject(ctx, "project.update", call.input);
  const { name } = parseInput(releaseNameSchema, call.input);
  await ctx.db.transaction(async (tx) => {
    await lockLabels(tx);
    const released = await tx
      .delete(formerName)
      .where(and(ofProject(found.id), eq(formerName.name, name.toLowerCase())))
      .returning({ name: formerName.name });
    if (released.length === 0) throw notFound("former name");
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: found.id,
      action: "project.release-name",
      subject: found.name,
      detail: { name },
    });
  });
}
