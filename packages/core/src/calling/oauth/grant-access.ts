import { randomToken, sha256 } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { oauthAuthorization, oauthClient, oauthConsent, oauthGrant } from "@towpath/db/schema";
import { and, desc, eq, gt, inArray, isNull, ne, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Context, ProjectAccess } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { appOf, type ClientRow } from "./clients.ts";
import { revokeGrants } from "./oauth.store.ts";
import { redirectLocation, returnAddressOf } from "./redirect-uri.ts";

/** A code is exchanged at once by a program (RFC 6749, section 4.1.2, allows ten minutes at most). */
const codeMs = 60_000;
/** How long a person who chose so is not asked again. */
const consentMs = 30 * 86_400_000;
/** Some apps register at each start: so many connections of one app, person and server are kept. */
const maxGrants = 20;

export const alreadyAnswered = (): TowpathError =>
  new TowpathError(
    "not_found",
    "Not Found: this request has expired or was already answered. Go back to the app and connect again.",
  );

export const stillPending = (id: string, now: Date) =>
  and(eq(oauthAuthorization.id, id), eq(oauthAuthorization.status, "pending"), gt(oauthAuthorization.expiresAt, now));

type Granted = {
  readonly authorization: typeof oauthAuthorization.$inferSelect;
  readonly client: ClientRow;
  readonly access: ProjectAccess;
  readonly issuer: string;
  /** `remembered`: given before. `remember`: given now, and for later requests. */
  readonly consent: "once" | "remember" | "remembered";
};

/** Stores the grant and the code. Returns where to send the browser. @throws TowpathError `not_found` for an answered request */
export async function grantAccess(ctx: Context, granted: Granted): Promise<string> {
  const { authorization, client, access, issuer, consent } = granted;
  const userId = requireUser(ctx);
  const projectId = access.project.id;
  const code = randomToken();
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const { scopes } = authorization;
    const [grant] = await tx
      .insert(oauthGrant)
      .values({ id: newId(), userId, clientId: client.id, projectId, scopes, createdAt: now })
      .onConflictDoUpdate({
        target: [oauthGrant.userId, oauthGrant.clientId, oauthGrant.projectId],
        targetWhere: isNull(oauthGrant.revokedAt),
        // From now on it is the person's, and outlasts an issuer that began it.
        set: { scopes: sql`excluded.scopes`, issuerId: null },
      })
      .returning({ id: oauthGrant.id });
    const approved = await tx
      .update(oauthAuthorization)
      .set({
        status: "approved",
        grantId: grant?.id,
        isRemembered: consent === "remembered",
        codeHash: sha256(code),
        expiresAt: new Date(now.getTime() + codeMs),
      })
      .where(stillPending(authorization.id, now));
    if (!grant || approved.rowCount !== 1) throw alreadyAnswered();
    await removeOldest(tx, now, { userId, projectId, app: appOf(client), grantId: grant.id });
    if (consent === "remember") {
      const expiresAt = new Date(now.getTime() + consentMs);
      const returnAddress = returnAddressOf(authorization.redirectUri);
      const { userId: owner, projectId: server, app, returnAddress: address } = oauthConsent;
      await tx
        .insert(oauthConsent)
        .values({ id: newId(), userId, projectId, app: appOf(client), returnAddress, createdAt: now, expiresAt })
        .onConflictDoUpdate({ target: [owner, server, app, address], set: { createdAt: now, expiresAt } });
    }
    await audit(tx, ctx, {
      organizationId: access.organization.id,
      projectId,
      action: "oauth.grant",
      subject: grant.id,
      detail: { client: client.name, clientId: client.id, scopes, consent },
    });
  });
  const { redirectUri, state } = authorization;
  return redirectLocation(redirectUri, { code, state, iss: issuer });
}

type Remembered = { readonly userId: string; readonly projectId: string; readonly client: ClientRow };

/** The person is asked again. */
export async function forgetConsent(tx: Transaction, { userId, projectId, client }: Remembered): Promise<void> {
  await tx
    .delete(oauthConsent)
    .where(
      and(eq(oauthConsent.userId, userId), eq(oauthConsent.projectId, projectId), eq(oauthConsent.app, appOf(client))),
    );
}

type Latest = Record<"userId" | "projectId" | "app" | "grantId", string>;

/** Ends the connections of an app's earlier registrations that were used longest ago; not the latest one, `grantId`. */
async function removeOldest(tx: Transaction, now: Date, latest: Latest): Promise<void> {
  const lastUse = sql`coalesce(${oauthGrant.lastUsedAt}, ${oauthGrant.createdAt})`;
  const oldest = await tx
    .select({ id: oauthGrant.id })
    .from(oauthGrant)
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .where(
      and(
        eq(oauthGrant.userId, latest.userId),
        eq(oauthGrant.projectId, latest.projectId),
        eq(oauthClient.app, latest.app),
        isNull(oauthGrant.revokedAt),
        ne(oauthGrant.id, latest.grantId),
      ),
    )
    .orderBy(desc(lastUse), desc(oauthGrant.id))
    .offset(maxGrants - 1);
  const ids = oldest.map(({ id }) => id);
  if (ids.length > 0) await revokeGrants(tx, now, inArray(oauthGrant.id, ids));
}
