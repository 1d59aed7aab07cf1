import type { Context } from "@towpath/core/context";
import { bearerToken, operatorContext } from "./operator-token.server.ts";
import { signedInContext } from "./signed-in.server.ts";

/**
 * Who reads a stream: the operator by token, else the session's user. A token that is wrong is refused, and never
 * falls back to a cookie.
 *
 * @throws TowpathError `unauthenticated` without either.
 */
export async function readerContext(request: Request): Promise<Context> {
  if (bearerToken(request.headers) !== null) return operatorContext(request);
  return (await signedInContext(request.headers)).ctx;
}
