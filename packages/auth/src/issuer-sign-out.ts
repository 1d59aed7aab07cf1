import type { Database } from "@towpath/db";
import { account, session } from "@towpath/db/schema";
import { and, eq, inArray } from "drizzle-orm";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { z } from "zod";
import { discoveryUrlOf } from "./oidc.config.ts";
import { type OidcSettings, oidcProviderId } from "./oidc.ts";

/** The issuer's id of the new session, from the ID token that better-auth has just stored; null without one. */
export async function issuerSessionOf(db: Database, oidc: OidcSettings | null, userId: string): Promise<string | null> {
  if (oidc === null) return null;
  const [found] = await db
    .select({ idToken: account.idToken })
    .from(account)
    .where(and(eq(account.userId, userId), eq(account.providerId, oidcProviderId(oidc.issuer))));
  if (!found?.idToken) return null;
  const { sid } = decodeJwt(found.idToken);
  return typeof sid === "string" ? sid : null;
}

const backChannelEvent = "http://schemas.openid.net/event/backchannel-logout";

/** OpenID Connect Back-Channel Logout 1.0, section 2.4. A nonce is forbidden, which rules out ID tokens. */
const logoutTokenSchema = z
  .object({
    sub: z.string().min(1).optional(),
    sid: z.string().min(1).optional(),
    events: z.looseObject({ [backChannelEvent]: z.looseObject({}) }),
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

const discoveryMs = 5000;

/** Checks logout tokens of an issuer and ends the sessions that they name. It caches the issuer's keys. */
export function createBackChannelLogout(db: Database, oidc: OidcSettings) {
  let known: { issuer: string; keys: ReturnType<typeof createRemoteJWKSet> } | undefined;
  const discover = async () => {
    if (known) return known;
    const answer = await fetch(discoveryUrlOf(oidc.issuer), { signal: AbortSignal.timeout(discoveryMs) });
    const { issuer, jwks_uri: jwks } = discoverySchema.parse(await answer.json());
    known = { issuer, keys: createRemoteJWKSet(new URL(jwks)) };
    return known;
  };
  /** @returns the number of ended sessions; null for a token that is invalid or can't be checked */
  return async (logoutToken: string): Promise<number | null> => {
    try {
      const { issuer, keys } = await discover();
      const options = { issuer, audience: oidc.clientId, requiredClaims: ["iat", "jti"], maxTokenAge: "10 minutes" };
      const { payload } = await jwtVerify(logoutToken, keys, options);
      return await endNamed(db, oidcProviderId(oidc.issuer), logoutTokenSchema.parse(payload));
    } catch {
      return null;
    }
  };
}

/** With a `sid` only that session, otherwise all of the subject's. */
async function endNamed(db: Database, providerId: string, named: z.output<typeof logoutTokenSchema>): Promise<number> {
  const people = db
    .select({ userId: account.userId })
    .from(account)
    .where(and(eq(account.providerId, providerId), named.sub ? eq(account.accountId, named.sub) : undefined));
  const one = named.sid ? eq(session.issuerSessionId, named.sid) : undefined;
  const ended = await db
    .delete(session)
    .where(and(inArray(session.userId, people), one))
    .returning({ id: session.id });
  return ended.length;
}
