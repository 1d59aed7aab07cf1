import { createMiddleware } from "@tanstack/react-start";
import { signInProblemPath } from "@towpath/auth";
import { services } from "~/compose.server.ts";
import { writableHeaders } from "./document-headers.ts";

/**
 * Stops a browser that brings a cookie of ours twice: nobody is signed in by it (see `hasRepeatedCookie`), and sending
 * it to sign in would lead around in circles, as a planted cookie may be sent to some paths only. It is told so, and
 * to forget the site's cookies, the planted one with them. Browsers do that over TLS and on localhost; elsewhere the
 * page says how.
 */
export const repeatedCookie = createMiddleware().server(async ({ next, request }) => {
  if (!services().auth.hasRepeatedCookie(request.headers)) return next();
  const wantsPage = request.headers.get("accept")?.includes("text/html") ?? false;
  if (wantsPage && new URL(request.url).pathname !== signInProblemPath) {
    return new Response(null, {
      status: 303,
      headers: { location: `${signInProblemPath}?error=repeated_cookie`, ...forgetCookies },
    });
  }
  const result = await next();
  const headers = writableHeaders(result);
  for (const [name, value] of Object.entries(forgetCookies)) headers.set(name, value);
  return result;
});

const forgetCookies = { "clear-site-data": '"cookies"', "cache-control": "private, no-store" };
