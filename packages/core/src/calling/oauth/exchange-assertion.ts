import { sha256 } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { oauthAssertion, oauthGrant, project, signInIssuer } from "@towpath/db/schema";
import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import type { AssertionClaims } from "../../ports/index.ts";
import { authenticateClient, type ClientCredentials } from "./authenticate-client.ts";
import { type ClientRow, requireClient } from "./clients.ts";
import { accessOrRefusal } from "./decide-authorization.ts";
import { markUsed } from "./families.ts";
import { findAssertedMember } from "./find-asserted-member.ts";
import { accessSeconds, type IssuedTokens } from "./issue-tokens.ts";
import { serverScope } from "./oauth.schema.ts";
import { OAuthError } from "./oauth-error.ts";
import { type KnownOfStep, recordedStep } from "./record-step.ts";
import { requireResource } from "./server-resource.ts";
import type { SignInProblem } from "./sign-in-step.schema.ts";

type Services = "recordSignInStep" | "fetchDocument" | "assertions";
/** `issuer`: of this authorization server. */
type AssertionInput = ClientCredentials & {
  readonly assertion: string | null;
  readonly resource: string | null;
  readonly issuer: string;
};
type Issuer = typeof signInIssuer.$inferSelect;

/** Characters of what a stranger may have written. */
const maxDetail = 300;
/** Clocks differ, and a token is verified with a little leeway. */
const afterEndMs = 60_000;

/**
 * Exchanges an identity assertion of an organization's identity provider (ID-JAG) for an access token of the member that
 * it names, once and without a page (RFC 7523, section 2.1; CAP-3). There is no refresh token: the client asks the
 * identity provider again.
 *
 * @throws OAuthError `invalid_client`, `unauthorized_client`, `invalid_request`, `invalid_grant`, `invalid_scope`, `invalid_target`
 */
export function exchangeAssertion(call: Call<AssertionInput, Services>): Promise<IssuedTokens> {
  const { ctx, input } = call;
  const claims = input.assertion ? ctx.assertions.read(input.assertion) : null;
  const [named = null] = claims?.resources ?? [];
  const step = { kind: "assertion" as const, resource: input.resource ?? named };
  return recordedStep(ctx, step, (known) => exchange({ ctx, input, claims }, known));
}

type Read = ReturnType<Context<"assertions">["assertions"]["read"]>;
type Exchange = { readonly ctx: Context<Services>; readonly input: AssertionInput; readonly claims: Read | null };

async function exchange({ ctx, input, claims: read }: Exchange, known: KnownOfStep): Promise<IssuedTokens> {
  const client = await confidentialClient(ctx, input, known);
  if (!input.assertion || !read) throw new OAuthError("invalid_request", "assertion is missing.");
  const now = ctx.clock.now();
  const { issuer, resource: asked } = input;
  const expected = { issuer, clientId: client.id, resource: asked, scope: serverScope, now: now.getTime() };
  const wrong = "problem" in read ? read : ctx.assertions.problemOf(read, expected);
  if (wrong) {
    known.detail = wrong.detail;
    const code = wrong.problem === "assertion_scope_missing" ? "invalid_scope" : "invalid_grant";
    throw new OAuthError(code, wrong.description, { problem: wrong.problem });
  }
  const claims = read as AssertionClaims;
  const { url: resource, projectId } = await requireResource(ctx, asked ?? claims.resources[0] ?? null);
  known.projectId = projectId;
  known.detail = claims.issuer.slice(0, maxDetail);
  const trusted = await requireSigned(ctx, { assertion: input.assertion, claims, projectId });
  Object.assign(known, { isProven: true, detail: null });
  const userId = await requireMember(ctx, { claims, trusted, projectId }, known);
  const begun = await ctx.db.transaction((tx) => begin(tx, ctx, { claims, trusted, userId, client, projectId }));
  await markIssuerUsed(ctx, trusted);
  const { grantId, familyId, isFirst } = begun;
  // What follows under the same grant is like a renewal to the person who looks.
  Object.assign(known, { kind: isFirst ? "assertion" : "refresh", authorizationId: grantId, detail: trusted.name });
  const of = { userId, clientId: client.id, grantId, familyId, resource, scopes: [serverScope] };
  return { ...of, refreshToken: null, authorizationId: isFirst ? grantId : null, accessSeconds };
}

/**
 * A client with a secret, or with a metadata document, whose address is the name that an identity provider knows.
 * Anybody can register a public one under any name.
 */
async function confidentialClient(
  ctx: Context<Services>,
  input: ClientCredentials,
  known: KnownOfStep,
): Promise<ClientRow> {
  known.clientId = input.clientId;
  const isDocument = input.clientId !== null && /^https?:/.test(input.clientId);
  const client = isDocument ? await requireClient(ctx, input.clientId ?? "") : await authenticateClient(ctx, input);
  known.clientName = client.name;
  if (client.kind === "document" || client.secretHash !== null) return client;
  throw new OAuthError(
    "unauthorized_client",
    "A client that has no secret can't use this grant. Register with token_endpoint_auth_method client_secret_basic.",
    { problem: "client_public" },
  );
}

/** One answer, so that nobody learns by trying whom an organization trusts. */
const untrusted = (problem: SignInProblem, cause?: unknown) =>
  new OAuthError(
    "invalid_grant",
    "The assertion was not signed by an identity provider that this server's organization trusts. The server's page Sign-ins has the reason; an admin adds the provider under Settings, API keys, Company sign-in.",
    { problem, cause },
  );

type Signed = { readonly assertion: string; readonly claims: AssertionClaims; readonly projectId: string };

/** The organization's issuer that has signed the assertion. */
async function requireSigned(ctx: Context<Services>, { assertion, claims, projectId }: Signed): Promise<Issuer> {
  const [found] = await ctx.db
    .select({ issuer: signInIssuer })
    .from(signInIssuer)
    .innerJoin(project, eq(project.organizationId, signInIssuer.organizationId))
    .where(and(eq(project.id, projectId), eq(signInIssuer.issuer, claims.issuer)));
  if (!found) throw untrusted("assertion_issuer_unknown");
  const isSigned = await ctx.assertions.isSigned(assertion, claims).catch((error: unknown) => {
    throw untrusted("assertion_keys_unreadable", error);
  });
  if (!isSigned) throw untrusted("assertion_unsigned");
  return found.issuer;
}

type Asserted = { readonly claims: AssertionClaims; readonly trusted: Issuer; readonly projectId: string };

/** The person, who may call the server now. */
async function requireMember(
  ctx: Context<Services>,
  { claims, trusted, projectId }: Asserted,
  known: KnownOfStep,
): Promise<string> {
  const userId = await findAssertedMember(ctx, { claims, trusted });
  if (userId === null) {
    known.detail = (claims.verifiedEmail ?? claims.subject).slice(0, maxDetail);
    const how = trusted.matchesEmail
      ? "with this account of the identity provider, or with the same verified email address"
      : "with this account of the identity provider";
    const description = `No member of the server's organization has signed in ${how}. An admin can invite the person.`;
    throw new OAuthError("invalid_grant", description, { problem: "assertion_person_unknown" });
  }
  known.userId = userId;
  const access = await accessOrRefusal({ ...ctx, actor: { kind: "user", userId, ipAddress: null } }, projectId);
  if (typeof access === "object") return userId;
  const problem = access === "role" ? "role_not_allowed" : access;
  const description = "The person may not call this server. An admin can allow their role on the server's page Access.";
  throw new OAuthError("invalid_grant", description, { problem });
}

type Beginning = Asserted & { readonly userId: string; readonly client: ClientRow };
type Begun = { readonly grantId: string; readonly familyId: string; readonly isFirst: boolean };

/** Stores that the assertion was used, and what it began. @throws OAuthError `invalid_grant`, and nothing is stored */
async function begin(
  tx: Transaction,
  ctx: Context,
  { claims, trusted, userId, client, projectId }: Beginning,
): Promise<Begun> {
  const now = ctx.clock.now();
  // Whoever removes it waits, and then ends this, too.
  const [current] = await tx
    .select({ id: signInIssuer.id })
    .from(signInIssuer)
    .where(eq(signInIssuer.id, trusted.id))
    .for("share");
  if (!current) throw untrusted("assertion_issuer_unknown");
  const scopes = [serverScope];
  const [id, familyId] = [newId(), newId()];
  const [grant] = await tx
    .insert(oauthGrant)
    .values({ id, userId, clientId: client.id, projectId, scopes, issuerId: trusted.id, createdAt: now })
    .onConflictDoUpdate({
      target: [oauthGrant.userId, oauthGrant.clientId, oauthGrant.projectId],
      targetWhere: isNull(oauthGrant.revokedAt),
      set: { scopes: sql`excluded.scopes` },
    })
    .returning({ id: oauthGrant.id });
  if (!grant) throw new Error("the grant was not stored");
  const expiresAt = new Date(Math.max(claims.expiresAt, now.getTime() + accessSeconds * 1000) + afterEndMs);
  const hash = sha256(JSON.stringify([claims.issuer, claims.id]));
  const stored = await tx
    .insert(oauthAssertion)
    .values({ hash, issuerId: trusted.id, grantId: grant.id, familyId, createdAt: now, expiresAt })
    .onConflictDoNothing();
  if (stored.rowCount !== 1) {
    const description = "The assertion was already used. Ask the identity provider for a new one.";
    throw new OAuthError("invalid_grant", description, { problem: "assertion_used" });
  }
  await markUsed(tx, now, grant.id, client.id);
  const isFirst = grant.id === id;
  if (isFirst) {
    const actor = { kind: "user", userId, ipAddress: null } as const;
    const detail = { client: client.name, clientId: client.id, scopes, consent: "company", issuer: trusted.name };
    const { organizationId } = trusted;
    await audit(tx, { ...ctx, actor }, { organizationId, projectId, action: "oauth.grant", subject: id, detail });
  }
  return { grantId: grant.id, familyId, isFirst };
}

/** To the minute. */
async function markIssuerUsed({ db, clock }: Context, { id }: Issuer): Promise<void> {
  const now = clock.now();
  const isOlder = or(isNull(signInIssuer.lastUsedAt), lt(signInIssuer.lastUsedAt, new Date(now.getTime() - 45_000)));
  await db
    .update(signInIssuer)
    .set({ lastUsedAt: now })
    .where(and(eq(signInIssuer.id, id), isOlder));
}
