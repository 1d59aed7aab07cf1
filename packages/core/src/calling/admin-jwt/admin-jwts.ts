import type { AdminTokenStats } from "@towpath/auth/credentials";
import { project } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";

/** `isCached`: it was issued for an earlier request. */
export const adminJwtSchema = z.object({ token: z.string(), expiresAt: z.iso.datetime(), isCached: z.boolean() });
export type AdminJwtView = z.infer<typeof adminJwtSchema>;

/**
 * The project's admin JWT, with which admins call its servers (PRJ-10). It names the user: it ends with their
 * membership. The operator's names nobody. Audited when a new one is signed.
 */
export async function getAdminJwt({ ctx, input }: Call<ProjectScope, "adminTokens">): Promise<AdminJwtView> {
  const access = await authorizeProject(ctx, "adminJwt.manage", input);
  const userId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
  const { token, expiresAt, isCached } = await ctx.adminTokens.issue({ ...generationOf(access.project), userId });
  if (!isCached) {
    await ctx.db.transaction((tx) =>
      audit(tx, ctx, {
        organizationId: access.organization.id,
        projectId: access.project.id,
        action: "adminJwt.issue",
        subject: access.project.name,
        detail: { expiresAt: expiresAt.toISOString() },
      }),
    );
  }
  return { token, expiresAt: expiresAt.toISOString(), isCached };
}

/**
 * Forgets the project's cached admin JWTs and revokes all that were issued (PRJ-10), in every process: gateways refuse
 * them as soon as they have read the new generation. Answers that are open go on until their token expires.
 */
export async function clearAdminJwtCache({ ctx, input }: Call<ProjectScope, "adminTokens">): Promise<AdminTokenStats> {
  const { project: before, organization } = await authorizeProject(ctx, "adminJwt.manage", input);
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .update(project)
      .set({ adminJwtGeneration: sql`${project.adminJwtGeneration} + 1` })
      .where(and(eq(project.organizationId, organization.id), eq(project.id, before.id)))
      .returning();
    if (!row) throw notFound("server");
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: row.id,
      action: "adminJwt.clearCache",
      subject: row.name,
    });
    return ctx.adminTokens.stats(generationOf(row));
  });
}

/** What the cache of this process has done for the project's current tokens (PRJ-10). */
export async function getAdminJwtCacheStats(call: Call<ProjectScope, "adminTokens">): Promise<AdminTokenStats> {
  const { ctx, input } = call;
  const access = await authorizeProject(ctx, "adminJwt.manage", input);
  return ctx.adminTokens.stats(generationOf(access.project));
}

const generationOf = (row: typeof project.$inferSelect) => ({ projectId: row.id, generation: row.adminJwtGeneration });
