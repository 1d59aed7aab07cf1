import { getRequestHeaders } from "@tanstack/react-start/server";
import { clientAddressHeader, type SignedIn } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";

/** What verbs need of a request that somebody signed in has made. */
export type SignedInContext = { readonly signedIn: SignedIn; readonly ctx: Context };

/** Who makes the request that is being answered; null when nobody is signed in. */
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
