import { randomToken, sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { oauthClient, oauthGrant } from "@towpath/db/schema";
import { and, desc, eq, lt, notExists, notInArray } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { invalidMetadata, parseClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";
import { type KnownOfStep, recordedStep } from "./record-step.ts";
import { returnAddressOf } from "./redirect-uri.ts";

export type ClientRow = typeof oauthClient.$inferSelect;

/** A metadata document is fetched again after an hour, and used for a day when that fails. */
const freshMs = 3_600_000;
const usableMs = 24 * freshMs;

/** So many registrations of an app that nobody has used for an hour and nobody granted anything are kept. */
const keptUnused = 20;
const unusedMs = 3_600_000;

/**
 * The same for all registrations of an app: those with its name and return addresses, ports of the user's own machine
 * aside. Anyone can register both, so it vouches for nothing by itself.
 */
export function appOf({
  id,
  kind,
  name,
  redirectUris,
}: Pick<ClientRow, "id" | "kind" | "name" | "redirectUris">): string {
  if (kind === "document") return id;
  return sha256(JSON.stringify([name, [...new Set(redirectUris.map(returnAddressOf))].toSorted()]));
}

/**
 * Registers a client (RFC 7591, GW-5). Anyone may; the caller limits how often. `client_secret` is shown this once.
 *
 * @throws OAuthError `invalid_redirect_uri`, `invalid_client_metadata`
 */
export function registerClient(call: {
  ctx: Context<"recordSignInStep">;
  input: { readonly metadata: unknown };
}): Promise<Readonly<Record<string, unknown>>> {
  return recordedStep(call.ctx, { kind: "registration" }, (known) => register(call, known));
}

async function register(
  { ctx, input }: Parameters<typeof registerClient>[0],
  known: KnownOfStep,
): Promise<Readonly<Record<string, unknown>>> {
  const metadata = parseClientMetadata(input.metadata, "client_secret_basic");
  const usesCodes = metadata.grantTypes.includes("authorization_code");
  if (!usesCodes && metadata.tokenEndpointAuthMethod === "none")
    throw invalidMetadata(
      "A client of identity assertions alone needs a secret: token_endpoint_auth_method client_secret_basic.",
    );
  const now = ctx.clock.now();
  const id = newId();
  const secret = metadata.tokenEndpointAuthMethod === "none" ? null : randomToken();
  const app = appOf({ id, kind: "registered", ...metadata });
  await removeUnused(ctx.db, { app, now });
  await ctx.db.insert(oauthClient).values({
    ...metadata,
    id,
    kind: "registered",
    app,
    secretHash: secret && sha256(secret),
    createdAt: now,
    lastUsedAt: now,
  });
  Object.assign(known, { clientId: id, clientName: metadata.name });
  return {
    client_id: id,
    client_id_issued_at: Math.floor(now.getTime() / 1000),
    ...(secret ? { client_secret: secret, client_secret_expires_at: 0 } : {}),
    client_name: metadata.name,
    ...(metadata.uri ? { client_uri: metadata.uri } : {}),
    redirect_uris: metadata.redirectUris,
    token_endpoint_auth_method: metadata.tokenEndpointAuthMethod,
    grant_types: metadata.grantTypes,
    response_types: usesCodes ? ["code"] : [],
  };
}

/** Some clients register at each start: the last of these are enough. */
async function removeUnused(db: Database, { app, now }: { readonly app: string; readonly now: Date }): Promise<void> {
  const granted = db.select({ id: oauthGrant.id }).from(oauthGrant).where(eq(oauthGrant.clientId, oauthClient.id));
  const isUnused = and(
    eq(oauthClient.app, app),
    eq(oauthClient.kind, "registered"),
    lt(oauthClient.lastUsedAt, new Date(now.getTime() - unusedMs)),
    notExists(granted),
  );
  const kept = db
    .select({ id: oauthClient.id })
    .from(oauthClient)
    .where(isUnused)
    .orderBy(desc(oauthClient.lastUsedAt), desc(oauthClient.id))
    .limit(keptUnused);
  await db.delete(oauthClient).where(and(isUnused, notInArray(oauthClient.id, kept)));
}

/**
 * The client of an authorization request. A `client_id` that is a URL names a metadata document
 * (draft-ietf-oauth-client-id-metadata-document), which is fetched when it isn't known or is older than an hour.
 *
 * @throws OAuthError `invalid_client` with what to do
 */
export async function requireClient(
  ctx: Context<"fetchDocument" | "recordSignInStep">,
  clientId: string,
): Promise<ClientRow> {
  const known = await findClient(ctx, clientId);
  if (!isDocumentUrl(clientId)) {
    if (known) return known;
    throw new OAuthError(
      "invalid_client",
      "This app is not registered here, or its registration has expired. Remove the server from the app and add it again.",
      { problem: "client_unknown" },
    );
  }
  const now = ctx.clock.now().getTime();
  if (known?.staleAt && known.staleAt.getTime() > now) return known;
  try {
    const client = await storeDocument(ctx, clientId);
    const { name: clientName } = client;
    // A failure is the authorization request's, which knows the server.
    ctx.recordSignInStep({
      kind: "registration",
      problem: null,
      projectId: null,
      isProven: false,
      clientId,
      clientName,
    });
    return client;
  } catch (error) {
    if (known?.staleAt && known.staleAt.getTime() + usableMs > now) return known;
    throw error;
  }
}

export async function findClient(ctx: Context, clientId: string): Promise<ClientRow | undefined> {
  const [found] = await ctx.db.select().from(oauthClient).where(eq(oauthClient.id, clientId));
  return found;
}

/** An https URL with a path, in its canonical form. The fetcher decides whether http is allowed (on this machine). */
function isDocumentUrl(clientId: string): boolean {
  const url = /^https?:/.test(clientId) && URL.canParse(clientId) ? new URL(clientId) : null;
  return url !== null && url.href === clientId && url.pathname !== "/" && !url.hash && !url.username && !url.password;
}

async function storeDocument(ctx: Context<"fetchDocument">, clientId: string): Promise<ClientRow> {
  const document = await ctx.fetchDocument(clientId).catch((error: unknown) => {
    const reason = error instanceof Error ? ` ${error.message}` : "";
    throw new OAuthError("invalid_client", `The app's metadata document could not be read.${reason}`, {
      problem: isPrivateAddress(error) ? "document_private" : "document_unreachable",
      cause: error,
    });
  });
  if (
    typeof document !== "object" ||
    document === null ||
    !("client_id" in document) ||
    document.client_id !== clientId
  ) {
    const problem = "document_invalid";
    throw new OAuthError("invalid_client", "The app's metadata document belongs to another client_id.", { problem });
  }
  const metadata = parseClientMetadata(document, "none");
  if (metadata.tokenEndpointAuthMethod !== "none") {
    const description = 'A metadata document must use token_endpoint_auth_method "none".';
    throw new OAuthError("invalid_client_metadata", description, { problem: "document_invalid" });
  }
  const now = ctx.clock.now();
  const values = { ...metadata, staleAt: new Date(now.getTime() + freshMs), lastUsedAt: now };
  const [row] = await ctx.db
    .insert(oauthClient)
    .values({ ...values, id: clientId, kind: "document", app: clientId, createdAt: now })
    .onConflictDoUpdate({ target: oauthClient.id, set: values })
    .returning();
  if (!row) throw new Error("the client was not stored");
  return row;
}

/** The fetcher's errors say why they refused (`EgressError`). */
const isPrivateAddress = (error: unknown): boolean =>
  error instanceof Error && "problem" in error && error.problem === "address_not_allowed";
