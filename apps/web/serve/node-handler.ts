import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { constants, createGzip } from "node:zlib";
import { clientAddress } from "./client-address.ts";

export type Fetch = (request: Request) => Response | Promise<Response>;

/** Names that only this server may set; `@towpath/auth` reads the client's address from here. */
const ownHeaderPrefix = "x-towpath-";
const addressHeader = "x-towpath-client-address";

/**
 * Turns a Node request into a web one and the answer back. The URL is built from the configured public origin, never
 * from the Host header, so that no link, redirect or origin check can be steered by a client.
 */
export function nodeHandler(fetch: Fetch, baseUrl: string) {
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const abort = new AbortController();
    outgoing.on("close", () => abort.abort());
    const refusal = bodyRefusal(incoming);
    const request = refusal ? null : webRequest(incoming, baseUrl, abort.signal);
    if (!request) {
      outgoing.writeHead(refusal?.status ?? 400, { "content-type": "text/plain" }).end(refusal?.text ?? "Bad Request");
      discardBody(incoming);
      return;
    }
    await send(await fetch(request), incoming, outgoing);
  };
}

/** Bytes of a body. Webhooks are as large as GitHub makes them; everything else here is a form or a small JSON. */
const maxBytes = 1024 * 1024;
const maxWebhookBytes = 25 * 1024 * 1024;
/** For how long the rest of a refused body is read and thrown away, milliseconds. */
const lingerMs = 2000;
const webhookPath = "/api/github/webhooks";

/** A body must say how long it is, so that one that is too long is refused before it is read. */
function bodyRefusal(incoming: IncomingMessage): { readonly status: number; readonly text: string } | null {
  if (incoming.headers["transfer-encoding"] !== undefined) return { status: 411, text: "Length Required" };
  const limit = incoming.url?.split("?", 1)[0] === webhookPath ? maxWebhookBytes : maxBytes;
  const length = Number(incoming.headers["content-length"] ?? 0);
  return length <= limit ? null : { status: 413, text: "Payload Too Large" };
}

/**
 * Reads on for a moment: closing a connection on which the client still sends resets it, and the client would learn of
 * a broken connection instead of the refusal.
 */
function discardBody(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), lingerMs);
  timer.unref();
  incoming.on("error", () => {});
  incoming.on("close", () => clearTimeout(timer));
  incoming.resume();
}

function webRequest(incoming: IncomingMessage, baseUrl: string, signal: AbortSignal): Request | null {
  const target = incoming.url ?? "/";
  // An absolute or authority form would replace the origin.
  if (!target.startsWith("/") || !URL.canParse(baseUrl + target)) return null;
  const headers = new Headers();
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    const name = incoming.rawHeaders[index]?.toLowerCase() ?? "";
    if (!name.startsWith(ownHeaderPrefix)) headers.append(name, incoming.rawHeaders[index + 1] ?? "");
  }
  headers.set(addressHeader, clientAddress(incoming));
  const method = incoming.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(baseUrl + target, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" } : {}),
  } as RequestInit);
}

async function send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== "set-cookie") outgoing.setHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
  if (!response.body || incoming.method === "HEAD") {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
  const zipped = wantsGzip(response, incoming);
  if (zipped) {
    outgoing.removeHeader("content-length");
    outgoing.setHeader("content-encoding", "gzip");
    outgoing.appendHeader("vary", "accept-encoding");
  }
  try {
    // Flushed at every chunk: a document is streamed while it renders.
    if (zipped) await pipeline(body, createGzip({ level: 4, flush: constants.Z_SYNC_FLUSH }), outgoing);
    else await pipeline(body, outgoing);
  } catch (error) {
    // The reader went away: nothing is left to answer. Anything else is the caller's to log.
    if (!outgoing.destroyed || !isPrematureClose(error)) throw error;
  }
}

function wantsGzip(response: Response, incoming: IncomingMessage): boolean {
  const type = response.headers.get("content-type") ?? "";
  if (response.headers.has("content-encoding") || type.startsWith("text/event-stream")) return false;
  if (!/^(text\/|application\/(json|x-ndjson))/.test(type)) return false;
  return /\bgzip\b/.test(String(incoming.headers["accept-encoding"] ?? ""));
}

const isPrematureClose = (error: unknown) =>
  error instanceof Error &&
  (("code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE") || error.name === "AbortError");
