import { githubInstallation, member, user } from "@towpath/db/schema";
import { and, asc, eq, inArray } from "drizzle-orm";
import { requireUser, roleMay } from "../../authorize/index.ts";
import { type Call, type Context, roles } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { type InstallationView, installationView, requireUsable } from "./installation.store.ts";

/** Roles that see their organization's installations. */
const readers = roles.filter((role) => roleMay(role, "installation.read"));

function rowsOfUser(ctx: Context, userId: string) {
  return ctx.db
    .select({ installation: githubInstallation, githubUserId: user.githubUserId })
    .from(githubInstallation)
    .innerJoin(member, eq(member.organizationId, githubInstallation.organizationId))
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.userId, userId), inArray(member.role, readers)))
    .orderBy(asc(githubInstallation.createdAt), asc(githubInstallation.installationId))
    .$dynamic();
}

/**
 * The installations of all organizations of the signed-in user, by the id of their own GitHub account (GH-1).
 *
 * @throws TowpathError `not_found` for another GitHub account than the one with which the user authorized the App
 */
export async function listInstallationsOfUser({
  ctx,
  input,
}: Call<{ readonly githubUserId: number }>): Promise<readonly InstallationView[]> {
  const userId = requireUser(ctx);
  const [account] = await ctx.db.select({ githubUserId: user.githubUserId }).from(user).where(eq(user.id, userId));
  if (account?.githubUserId !== input.githubUserId) throw notFound("GitHub user");
  return (await rowsOfUser(ctx, userId)).map(({ installation }) => installationView(installation));
}

/**
 * Checks that the signed-in user may read repositories of an installation, in whichever of their organizations (GH-4).
 *
 * @throws TowpathError `not_found` for another user, and for an installation that none of their organizations has;
 * `conflict` for a suspended one
 */
export async function requireInstallationOfUser({
  ctx,
  input,
}: Call<{ readonly userId: string; readonly installationId: number }>): Promise<void> {
  const userId = requireUser(ctx);
  if (input.userId !== userId) throw notFound("user");
  const rows = await rowsOfUser(ctx, userId);
  const found = rows.find(({ installation }) => installation.installationId === input.installationId);
  if (!found) throw notFound("installation");
  requireUsable(found.installation);
}
