import { asTowpathError, TowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";

/** The raw body, at most `maxBytes` long. @throws TowpathError `invalid_input` for a longer one. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new TowpathError("invalid_input", `The request is larger than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws TowpathError `invalid_input` for anything but a JSON object. */
export function parseJsonObject(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The parser's message doesn't help callers; the error below does.
  }
  throw new TowpathError("invalid_input", "The request body must be a JSON object.");
}

/**
 * Whether one of our own pages made the request, by the headers that browsers set. A request without them counts as
 * foreign: this guards handlers that act with the session's cookie.
 */
export function isSameOrigin(request: Request, baseUrl: string): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = request.headers.get("origin");
  return origin !== null && origin === baseUrl;
}

/** A redirect that also sets the cookies of `from`. With 303 the browser continues with GET. */
export function redirectTo(location: string, from: Headers = new Headers(), status: 302 | 303 = 302): Response {
  const headers = new Headers({ location, "cache-control": "private, no-store" });
  for (const cookie of from.getSetCookie()) headers.append("set-cookie", cookie);
  return new Response(null, { status, headers });
}

/** The error response of REST, streams and webhooks: `{ error: { code, message, fields } }`. */
function errorResponse(thrown: unknown, request: Request, more: Readonly<Record<string, string>>): Response {
  const error = asTowpathError(thrown);
  if (error.code === "internal") {
    const { pathname } = new URL(request.url);
    services().log.error({ err: thrown, method: request.method, path: pathname }, "request failed");
  }
  const { code, message, fields } = error;
  const headers = new Headers(more);
  if (error.retryAfterSeconds !== undefined) headers.set("retry-after", String(error.retryAfterSeconds));
  if (code === "unauthenticated" && !headers.has("www-authenticate"))
    headers.set("www-authenticate", 'Bearer realm="towpath"');
  return Response.json({ error: { code, message, fields } }, { status: error.httpStatus, headers });
}

/** Runs a handler and turns its errors into error responses, which also get `headers`. */
export async function respond(
  request: Request,
  work: () => Promise<Response>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  try {
    return await work();
  } catch (thrown) {
    return errorResponse(thrown, request, headers);
  }
}
