import { isNotFound, isRedirect } from "@tanstack/react-router";
import { createMiddleware, getGlobalStartContext } from "@tanstack/react-start";
import { getRequest, setResponseStatus } from "@tanstack/react-start/server";
import { signInProblemPath } from "@towpath/auth";
import { asTowpathError, type ErrorCode, notFound } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";
import type { WebConfig } from "~/config.server.ts";
import { securityHeaders, sharingHeader } from "./security-headers.ts";
import { thirdPartyScript, thirdPartySources } from "./third-parties.ts";

/** Creates the request's CSP nonce and sets the security headers of the response. Must run first. */
export const documentHeaders = createMiddleware().server(async ({ next, handlerType, request }) => {
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
  const { config } = services();
  const thirdParties = thirdPartyScript(config.thirdParties);
  const result = await next({ context: { nonce, handlerType, thirdParties } });
  const headers = writableHeaders(result);
  const shared = headers.get(sharingHeader) === "cross-origin";
  for (const [name, value] of Object.entries(securityHeaders(config.baseUrl))) headers.set(name, value);
  if (shared) headers.set(sharingHeader, "cross-origin");
  if (signInPath.test(new URL(request.url).pathname)) headers.set("cross-origin-opener-policy", "unsafe-none");
  const isPage = headers.get("content-type")?.startsWith("text/html");
  // Special documents, such as a form for another site, set their own.
  if (!headers.has("content-security-policy"))
    headers.set("content-security-policy", isPage ? contentSecurityPolicy(nonce, config) : filePolicy);
  // Responses depend on the session. A response that may be cached sets its own header.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store");
  return result;
});

/** Copies responses whose headers are immutable, such as those of `fetch` and `Response.redirect`. */
function writableHeaders(result: { response: Response }): Headers {
  try {
    result.response.headers.delete("x-towpath-probe");
  } catch {
    const { body, status, statusText, headers } = result.response;
    result.response = new Response(body, { status, statusText, headers: new Headers(headers) });
  }
  return result.response.headers;
}

/**
 * Handles browsers that send one of our cookies twice. Such a request counts as signed out (see `hasRepeatedCookie`),
 * but redirecting it to sign-in could loop, because a planted cookie may apply to some paths only. So it goes to a page
 * that explains this, and `clear-site-data` removes the planted cookie. Browsers honor that header over TLS and on
 * localhost; elsewhere the page says what to do.
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

/**
 * Paths from an OAuth client to its consent page, including sign-in. Clients open these in a popup and wait for its
 * return, which the stricter opener policy would prevent: it separates the window from its opener permanently.
 */
const signInPath = /^\/(oauth|login|signup|provider|api\/auth)(\/|$)/;

/** For responses that aren't pages: an image or a feed opened directly runs and loads nothing, and can't be framed. */
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/**
 * Scripts run only by nonce or from this origin. Inline styles are allowed: toasts and charts set them from script, and
 * a style can't run code. GitHub serves the account pictures.
 */
function contentSecurityPolicy(nonce: string, { gitHub, thirdParties }: WebConfig): string {
  const images = ["'self'", "data:", "https:", ...(gitHub ? [new URL(gitHub.url).origin] : [])];
  const { scripts, connections, workers } = thirdPartySources(thirdParties);
  return [
    "default-src 'self'",
    ["script-src 'self'", `'nonce-${nonce}'`, ...scripts].join(" "),
    "style-src 'self' 'unsafe-inline'",
    `img-src ${[...new Set(images)].join(" ")}`,
    "font-src 'self'",
    // Sounds that a tool returned.
    "media-src 'self' data:",
    ["connect-src 'self'", ...connections].join(" "),
    ...(workers.length > 0 ? [`worker-src ${workers.join(" ")}`] : []),
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Requests that have reached a server function. */
const arrived = new WeakSet<Request>();

/**
 * A call that reaches no server function is the caller's mistake: an unknown name (404), or an unreadable call (400).
 * The framework would answer both with 500.
 */
export const unreadableCalls = createMiddleware().server(async ({ next, handlerType, request }) => {
  if (handlerType !== "serverFn") return next();
  try {
    const result = await next();
    if (result.response.status < 500 || arrived.has(request)) return result;
    result.response = callError(400, "invalid_input", "The call could not be read.");
    return result;
  } catch (thrown) {
    if (arrived.has(request) || thrown instanceof Response || isRedirect(thrown)) throw thrown;
    const { code, message, httpStatus } = notFound("server function");
    return callError(httpStatus, code, message);
  }
});

const callError = (status: number, code: ErrorCode, message: string) =>
  Response.json({ error: { code, message, fields: {} } }, { status });

/**
 * Server functions throw a TowpathError, a redirect or a not-found. Anything else is a bug or an outage: it is logged
 * in full, and the browser gets a public message. Calls without permission are logged, too.
 */
export const functionErrors = createMiddleware({ type: "function" }).server(async ({ next, serverFnMeta }) => {
  arrived.add(getRequest());
  try {
    return await next();
  } catch (thrown) {
    if (isRedirect(thrown) || isNotFound(thrown) || thrown instanceof Response) throw thrown;
    const error = asTowpathError(thrown);
    const { log } = services();
    if (error.code === "internal") log.error({ err: thrown, function: serverFnMeta.name }, "server function failed");
    else if (error.code === "forbidden") log.warn({ function: serverFnMeta.name }, "server function refused");
    // During server rendering the router sets the status, because a guard may still turn the error into a redirect.
    if (getGlobalStartContext()?.handlerType === "serverFn") setResponseStatus(error.httpStatus);
    throw error;
  }
});
