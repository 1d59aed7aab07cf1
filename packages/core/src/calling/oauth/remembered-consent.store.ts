import { oauthAuthorization, oauthClient, oauthConsent, oauthGrant, oauthRefreshToken } from "@towpath/db/schema";
import { and, eq, gt, isNull, ne, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { appOf, type ClientRow } from "./clients.ts";
import { returnAddressOf } from "./redirect-uri.ts";
import type { SignInFault } from "./sign-in-step.schema.ts";

const lately = 10 * 60_000;

type Of = { readonly userId: string; readonly projectId: string; readonly app: string };

const grantsOf = ({ userId, projectId, app }: Of) =>
  and(
    eq(oauthGrant.userId, userId),
    eq(oauthGrant.projectId, projectId),
    eq(oauthClient.app, app),
    isNull(oauthGrant.revokedAt),
  );

/** How often an app got access in the last ten minutes by a remembered consent. */
export async function rememberedTimes(ctx: Context, of: Of): Promise<number> {
  const since = new Date(ctx.clock.now().getTime() - lately);
  const [found] = await ctx.db
    .select({ times: sql<number>`count(*)::int` })
    .from(oauthAuthorization)
    .innerJoin(oauthGrant, eq(oauthGrant.id, oauthAuthorization.grantId))
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .where(and(grantsOf(of), eq(oauthAuthorization.isRemembered, true), gt(oauthAuthorization.createdAt, since)));
  return found?.times ?? 0;
}

/** Whether a person chose not to be asked again for this app, server and return address. */
export async function isRemembered(
  ctx: Context,
  of: { readonly userId: string; readonly projectId: string; readonly client: ClientRow; readonly redirectUri: string },
): Promise<boolean> {
  const [found] = await ctx.db
    .select({ id: oauthConsent.id })
    .from(oauthConsent)
    .where(
      and(
        eq(oauthConsent.userId, of.userId),
        eq(oauthConsent.projectId, of.projectId),
        eq(oauthConsent.app, appOf(of.client)),
        eq(oauthConsent.returnAddress, returnAddressOf(of.redirectUri)),
        gt(oauthConsent.expiresAt, ctx.clock.now()),
      ),
    );
  return found !== undefined;
}

/** Why an app asks again although it has got access: it registered again, or lost tokens that are still valid. */
export async function whyAgain(ctx: Context, { client, ...of }: Omit<Of, "app"> & { readonly client: ClientRow }) {
  const [earlier] = await ctx.db
    .select({ id: oauthGrant.id })
    .from(oauthGrant)
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .where(and(grantsOf({ ...of, app: appOf(client) }), ne(oauthClient.id, client.id)))
    .limit(1);
  const [own] = await ctx.db
    .select({ hash: oauthRefreshToken.hash })
    .from(oauthRefreshToken)
    .innerJoin(oauthGrant, eq(oauthGrant.id, oauthRefreshToken.grantId))
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .where(
      and(
        grantsOf({ ...of, app: appOf(client) }),
        eq(oauthClient.id, client.id),
        isNull(oauthRefreshToken.rotatedAt),
        gt(oauthRefreshToken.expiresAt, ctx.clock.now()),
      ),
    )
    .limit(1);
  if (own) return "tokens_lost" satisfies SignInFault;
  return earlier ? ("registered_again" satisfies SignInFault) : null;
}
