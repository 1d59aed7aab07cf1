import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getRequestHeaders } from "@tanstack/react-start/server";
import { clientAddressHeader, type SignedIn } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { equalInConstantTime } from "@towpath/crypto";
import { services } from "~/compose.server.ts";

type SignedInContext = { readonly signedIn: SignedIn; readonly ctx: Context };

/** The session of the current request; null when nobody is signed in. */
export function currentSession(): Promise<SignedIn | null> {
  return services().auth.session(getRequestHeaders());
}

/** @throws TowpathError `unauthenticated` without a valid session. */
export async function signedInContext(headers: Headers = getRequestHeaders()): Promise<SignedInContext> {
  const signedIn = await services().auth.session(headers);
  if (!signedIn) throw new TowpathError("unauthenticated", "Not authenticated");
  return { signedIn, ctx: contextForUser(signedIn.user.id, headers) };
}

export function contextForUser(userId: string, headers: Headers): Context {
  return services().contextFor({ kind: "user", userId, ipAddress: headers.get(clientAddressHeader) });
}

const minTokenLength = 32;

/**
 * Whether a bearer token is the instance's operator token. The file is read each time, so that a new token works at
 * once. No token is accepted if the file is missing or its token is too short to be safe.
 */
async function isOperatorToken(file: string, given: string): Promise<boolean> {
  const token = await readFile(file, "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  if (token.length < minTokenLength) return false;
  return equalInConstantTime(token, given);
}

/** The token of an `Authorization: Bearer` header; null without one. */
function bearerToken(headers: Headers): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

/** @throws TowpathError `unauthenticated` for anything but the operator token. A session cookie is ignored. */
export async function operatorContext(request: Request): Promise<Context> {
  const { config, contextFor } = services();
  const token = bearerToken(request.headers);
  if (token && (await isOperatorToken(join(config.dataDirectory, "operator-token"), token))) {
    return contextFor({ kind: "operator", ipAddress: request.headers.get(clientAddressHeader) });
  }
  throw new TowpathError("unauthenticated", "The operator token is missing or wrong.");
}

/**
 * The reader of a stream: the operator by token, otherwise the session's user. A wrong token is refused; it never
 * falls back to a cookie.
 *
 * @throws TowpathError `unauthenticated` without either.
 */
export async function readerContext(request: Request): Promise<Context> {
  if (bearerToken(request.headers) !== null) return operatorContext(request);
  return (await signedInContext(request.headers)).ctx;
}
