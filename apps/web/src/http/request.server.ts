import { TowpathError } from "@towpath/core/errors";

/** Reads a body of at most `maxBytes`, undecoded. @throws TowpathError `invalid_input` for a longer one. */
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
    // The parser's message doesn't help callers; the error below says what is wrong.
  }
  throw new TowpathError("invalid_input", "The request body must be a JSON object.");
}

/**
 * Whether a request was made by one of our own pages. Browsers say where a request comes from; a request that
 * doesn't is refused, because what this guards acts with the session's cookie.
 */
export function isSameOrigin(request: Request, baseUrl: string): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = request.headers.get("origin");
  return origin !== null && origin === baseUrl;
}

/** A redirect that also passes on cookies. 303: the browser continues with GET. */
export function redirectTo(location: string, from: Headers = new Headers(), status: 302 | 303 = 302): Response {
  const headers = new Headers({ location, "cache-control": "private, no-store" });
  for (const cookie of from.getSetCookie()) headers.append("set-cookie", cookie);
  return new Response(null, { status, headers });
}
