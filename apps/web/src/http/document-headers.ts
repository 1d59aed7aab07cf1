import { createMiddleware } from "@tanstack/react-start";
import { services } from "~/compose.server.ts";
import { contentSecurityPolicy, securityHeaders } from "./security-headers.ts";

/** First of all middleware: gives the request its nonce and the answer its security headers. */
export const documentHeaders = createMiddleware().server(async ({ next, handlerType }) => {
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
  const result = await next({ context: { nonce, handlerType } });
  const { config } = services();
  const headers = writableHeaders(result);
  for (const [name, value] of Object.entries(securityHeaders(config.baseUrl))) headers.set(name, value);
  if (headers.get("content-type")?.startsWith("text/html")) {
    headers.set("content-security-policy", contentSecurityPolicy(nonce, config.gitHub?.url ?? null));
  }
  // Everything here depends on who asks. What may be cached says so itself.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store");
  return result;
});

/** Answers made by `fetch` or `Response.redirect` have headers that cannot be changed: those are copied. */
export function writableHeaders(result: { response: Response }): Headers {
  try {
    result.response.headers.delete("x-towpath-probe");
  } catch {
    const { body, status, statusText, headers } = result.response;
    result.response = new Response(body, { status, statusText, headers: new Headers(headers) });
  }
  return result.response.headers;
}
