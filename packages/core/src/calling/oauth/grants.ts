import { oauthClient, oauthGrant, organization, project, signInIssuer, user } from "@towpath/db/schema";
import { and, desc, eq, isNull } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, requireUser } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import type { ConnectedClientView, GrantView } from "./oauth.schema.ts";
import { clientView, forgetConsents, revokeGrants } from "./oauth.store.ts";

/** Most recent first; nobody has more than some dozens. */
const maxGrants = 500;

/** The apps that the signed-in user connected, and to which servers (GW-5). */
export async function listGrants(call: { ctx: Context }): Promise<readonly GrantView[]> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const rows = await ctx.db
    .select({
      grant: oauthGrant,
      client: oauthClient,
      name: project.name,
      orgSlug: organization.slug,
      companySignIn: signInIssuer.name,
    })
    .from(oauthGrant)
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .innerJoin(project, eq(project.id, oauthGrant.projectId))
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoin(signInIssuer, eq(signInIssuer.id, oauthGrant.issuerId))
    .where(and(eq(oauthGrant.userId, userId), isNull(oauthGrant.revokedAt)))
    .orderBy(desc(oauthGrant.createdAt), desc(oauthGrant.id))
    .limit(maxGrants);
  return rows.map(({ grant, client, name, orgSlug, companySignIn }) => ({
    id: grant.id,
    client: clientView(client),
    server: { name, url: mcpUrl(ctx.serverUrlTemplate, name.toLowerCase()), orgSlug },
    companySignIn,
    scopes: grant.scopes,
    createdAt: grant.createdAt.toISOString(),
    lastUsedAt: grant.lastUsedAt?.toISOString() ?? null,
  }));
}

/**
 * Disconnects an app that the signed-in user connected: its tokens stop working (GW-5).
 *
 * @throws TowpathError `not_found` for a grant of somebody else, or one that is revoked
 */
export async function revokeGrant(call: Call<{ readonly grantId: string }>): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const userId = requireUser(ctx);
  if (!isId(input.grantId)) throw notFound("connected app");
  return ctx.db.transaction(async (tx) => {
    const mine = and(eq(oauthGrant.userId, userId), eq(oauthGrant.id, input.grantId));
    const [revoked] = await revokeGrants(tx, ctx.clock.now(), mine);
    if (!revoked) throw notFound("connected app");
    await forgetConsents(tx, [revoked]);
    const [owner] = await tx
      .select({ organizationId: project.organizationId })
      .from(project)
      .where(eq(project.id, revoked.projectId));
    await audit(tx, ctx, {
      organizationId: owner?.organizationId ?? null,
      projectId: revoked.projectId,
      action: "oauth.revoke",
      subject: revoked.id,
      detail: { clientId: revoked.clientId },
    });
    return { id: revoked.id };
  });
}

type ProjectKey = { readonly orgSlug: string; readonly projectName: string };

/** The clients that are connected to a server, with who connected them (PRJ-8, GW-5). */
export async function listConnectedClients({ ctx, input }: Call<ProjectKey>): Promise<readonly ConnectedClientView[]> {
  const { project: found } = await authorizeProject(ctx, "client.read", input);
  const rows = await ctx.db
    .select({
      grant: oauthGrant,
      client: oauthClient,
      name: user.name,
      email: user.email,
      companySignIn: signInIssuer.name,
    })
    .from(oauthGrant)
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .innerJoin(user, eq(user.id, oauthGrant.userId))
    .leftJoin(signInIssuer, eq(signInIssuer.id, oauthGrant.issuerId))
    .where(and(eq(oauthGrant.projectId, found.id), isNull(oauthGrant.revokedAt)))
    .orderBy(desc(oauthGrant.createdAt), desc(oauthGrant.id))
    .limit(maxGrants);
  const byClient = Map.groupBy(rows, ({ client }) => client.id);
  return [...byClient.values()].flatMap((grants) => {
    const [newest] = grants;
    if (!newest) return [];
    const used = grants.flatMap(({ grant }) => grant.lastUsedAt?.toISOString() ?? []).toSorted();
    return {
      client: clientView(newest.client),
      people: grants.map(({ name, email }) => ({ name, email })),
      companySignIns: [...new Set(grants.flatMap(({ companySignIn }) => companySignIn ?? []))],
      connectedAt: grants.map(({ grant }) => grant.createdAt.toISOString()).toSorted()[0] ?? "",
      lastUsedAt: used.at(-1) ?? null,
    };
  });
}

/**
 * Disconnects a client from a server, for everybody who connected it (GW-5). They can connect it again.
 *
 * @throws TowpathError `not_found` for a client that isn't connected
 */
export async function disconnectClient({
  ctx,
  input,
}: Call<ProjectKey & { readonly clientId: string }>): Promise<{ readonly grants: number }> {
  const { project: found, organization: owner } = await authorizeProject(ctx, "client.disconnect", input);
  return ctx.db.transaction(async (tx) => {
    const connected = and(eq(oauthGrant.projectId, found.id), eq(oauthGrant.clientId, input.clientId));
    const revoked = await revokeGrants(tx, ctx.clock.now(), connected);
    if (revoked.length === 0) throw notFound("connected app");
    await forgetConsents(tx, revoked);
    await audit(tx, ctx, {
      organizationId: owner.id,
      projectId: found.id,
      action: "oauth.disconnect",
      subject: input.clientId,
      detail: { grants: revoked.length },
    });
    return { grants: revoked.length };
  });
}
