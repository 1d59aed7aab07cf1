import { createMiddleware } from "@tanstack/react-start";
import { signInProblemPath } from "@towpath/auth";
import { services } from "~/compose.server.ts";
import { writableHeaders } from "./document-headers.ts";

/**
 * Stops a browser that sends one of our cookies twice. Such a request counts as signed out (see `hasRepeatedCookie`),
 * and redirecting it to sign-in could loop, because a planted cookie may apply to some paths only. So the browser is
 * sent to a page that explains this, and told to clear the site's cookies, the planted one included. Browsers obey over
 * TLS and on localhost; elsewhere the page says what to do.
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
