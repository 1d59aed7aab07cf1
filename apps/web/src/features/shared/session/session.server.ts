import { setResponseHeader } from "@tanstack/react-start/server";
import { safeReturnPath } from "@towpath/auth";
import { TowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";

/** The path of a page that leads to the provider and back to a checked return path. */
export function signInUrl(page: "/login" | "/signup", returnTo: string | undefined): string {
  const path = safeReturnPath(returnTo);
  return path === "/" ? page : `${page}?returnTo=${encodeURIComponent(path)}`;
}

/**
 * Begins a sign-in and sets its cookies; the URL is the issuer's, or the embedded provider's page.
 *
 * @throws TowpathError `limit_reached`, `upstream_unavailable`
 */
export async function startAtProvider(
  call: { readonly returnTo?: string | undefined },
  headers: Headers,
): Promise<{ readonly url: string }> {
  const { auth, config } = services();
  const started = await auth.start({ returnPath: safeReturnPath(call.returnTo), signUp: false, headers });
  if (started.kind === "too_many_attempts")
    throw new TowpathError("limit_reached", "Too many sign-ins were started. Wait a minute and try again.");
  if (started.kind === "issuer_unreachable")
    throw new TowpathError(
      "upstream_unavailable",
      "The sign-in provider can't be reached right now. Try again in a moment.",
    );
  passCookies(started.headers);
  return { url: new URL(started.location, config.baseUrl).href };
}

/** Sets the cookies of a result of `auth` on the response of a server function. */
export function passCookies(headers: Headers): void {
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) setResponseHeader("set-cookie", cookies);
}
