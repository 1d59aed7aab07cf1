import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getRequestHeaders } from "@tanstack/react-start/server";
import { clientAddressHeader, limitRequests, type SignedIn } from "@towpath/auth";
import { apiKeyPrefix, verifyApiKey } from "@towpath/auth/credentials";
import type { FullContext } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { equalInConstantTime } from "@towpath/crypto";
import { networkOf } from "@towpath/limits";
import { services } from "~/compose.server.ts";
import type { WebConfig } from "~/config.server.ts";

type SignedInContext = { readonly signedIn: SignedIn; readonly ctx: FullContext };

/** The session of the current request; null if signed out. */
export function currentSession(): Promise<SignedIn | null> {
  return services().auth.session(getRequestHeaders());
}

/** @throws TowpathError `unauthenticated` without a valid session. */
export async function signedInContext(headers: Headers = getRequestHeaders()): Promise<SignedInContext> {
  const signedIn = await services().auth.session(headers);
  if (!signedIn) throw new TowpathError("unauthenticated", "Not authenticated");
  return { signedIn, ctx: contextForUser(signedIn.user.id, headers) };
}

export function contextForUser(userId: string, headers: Headers): FullContext {
  return services().contextFor({ kind: "user", userId, ipAddress: headers.get(clientAddressHeader) });
}

const minTokenLength = 32;

/**
 * Whether a bearer token is the instance's operator token: that of the settings, or that of the data directory. The file
 * is read each time, so that a new token works at once. It may be missing; a token that is too short is not accepted.
 */
async function isOperatorToken({ operatorToken, dataDirectory }: WebConfig, given: string): Promise<boolean> {
  if (operatorToken !== null && equalInConstantTime(operatorToken, given)) return true;
  const text = await readFile(join(dataDirectory, "operator-token"), "utf8").catch(() => "");
  const token = text.trim();
  return token.length >= minTokenLength && equalInConstantTime(token, given);
}

/** The token of an `Authorization: Bearer` header; null without one. */
function bearerToken(headers: Headers): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

const howToAuthenticate =
  "Send `Authorization: Bearer` with an API key that may manage servers (create one in the dashboard: Settings → API " +
  "keys), or with the operator token of this instance.";

/** Per API key over REST, across all processes. */
const maxRequestsPerMinute = 600;

/**
 * The holder of the request's bearer token: the operator, or an API key that may manage servers. A session cookie is
 * ignored.
 *
 * @throws TowpathError `unauthenticated`; `forbidden` for a key that may only call servers; `limit_reached`
 */
export async function tokenContext(request: Request): Promise<FullContext> {
  const token = bearerToken(request.headers);
  if (token === null) throw new TowpathError("unauthenticated", `A credential is needed. ${howToAuthenticate}`);
  return contextOfToken(token, request.headers);
}

/**
 * The same for Git, which sends the credential as the password of basic authentication, with any user name.
 *
 * @throws TowpathError as `tokenContext`
 */
export async function gitContext({ headers }: Request): Promise<FullContext> {
  const encoded = /^Basic +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  const pair = Buffer.from(encoded, "base64").toString();
  const token = pair.slice(pair.indexOf(":") + 1);
  if (token === "")
    throw new TowpathError(
      "unauthenticated",
      "Git needs a password here: an API key that may manage servers, with any user name. Create one in the dashboard: " +
        "Settings → API keys.",
    );
  return contextOfToken(token, headers);
}

async function contextOfToken(token: string, headers: Headers): Promise<FullContext> {
  const { config, contextFor } = services();
  const ipAddress = headers.get(clientAddressHeader);
  if (token.startsWith(apiKeyPrefix)) return contextFor({ ...(await managingKey(token, ipAddress)), ipAddress });
  if (await isOperatorToken(config, token)) return contextFor({ kind: "operator", ipAddress });
  const message = `This is neither an API key nor the operator token. ${howToAuthenticate}`;
  throw await refusedCredential(message, ipAddress);
}

/** Wrong credentials per minute and network. */
const maxRefusedPerMinute = 60;

/**
 * The error for a wrong credential; above the limit, to wait. Valid credentials pass even then: they can't be guessed
 * at any rate, and otherwise programs on the operator's machine, which share its address, could lock the operator out.
 */
async function refusedCredential(message: string, ipAddress: string | null): Promise<TowpathError> {
  const seconds = await limitRequests(services().database.db, {
    key: `refused ${networkOf(ipAddress ?? "")}`,
    max: maxRefusedPerMinute,
  });
  if (seconds === 0) return new TowpathError("unauthenticated", message);
  const wait = `Too many wrong credentials from this network. Try again in ${seconds} s.`;
  return new TowpathError("limit_reached", wait, { retryAfterSeconds: seconds });
}

async function managingKey(key: string, ipAddress: string | null) {
  const { database } = services();
  const holder = await verifyApiKey(database.pool, key);
  if (!holder) {
    const message = "This API key doesn't exist, was revoked or has expired. Create another one: Settings → API keys.";
    throw await refusedCredential(message, ipAddress);
  }
  const { mayManage, ...grant } = holder;
  const seconds = await limitRequests(database.db, { key: `rest ${grant.keyId}`, max: maxRequestsPerMinute });
  if (seconds > 0) {
    const message = `This API key has made ${maxRequestsPerMinute} requests within a minute. Try again in ${seconds} s.`;
    throw new TowpathError("limit_reached", message, { retryAfterSeconds: seconds });
  }
  if (mayManage) return { kind: "apiKey", ...grant } as const;
  const message =
    "Forbidden: this API key may only call servers. Create one that may manage them: Settings → API keys → Create key.";
  throw new TowpathError("forbidden", message);
}

/**
 * The reader of a stream: the holder of the token, otherwise the session's user. A wrong token is refused; it never
 * falls back to a cookie.
 *
 * @throws TowpathError `unauthenticated` without either.
 */
export async function readerContext(request: Request): Promise<FullContext> {
  if (bearerToken(request.headers) !== null) return tokenContext(request);
  return (await signedInContext(request.headers)).ctx;
}
