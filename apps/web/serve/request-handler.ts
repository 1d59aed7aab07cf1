import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { finished } from "node:stream";
import { constants } from "node:zlib";
import compression from "compression";
import sirv from "sirv";
import type { NodeHttp1Handler, ServerRequest } from "srvx";
import { toNodeHandler } from "srvx/node";
import { type RouteClass, routeClassOf } from "./route-class.ts";

type Options = {
  /** Directory of the browser build. */
  readonly clientDirectory: string;
  /** Public origin of the site. */
  readonly baseUrl: string;
  /** The client's address by the peer's and by X-Forwarded-For. */
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => string;
  /** The built app. */
  readonly fetch: (request: Request, route: RouteClass) => Response | Promise<Response>;
  /** Called when a request has ended. `status`: 0 if the client left before there was one. */
  readonly onEnded: (ended: { readonly route: RouteClass; readonly status: number; readonly seconds: number }) => void;
  /** Called with errors of `fetch`. The client gets 500. */
  readonly onError: (error: unknown, request: IncomingMessage) => void;
};

/** Handles every request of the site: checks its limits, then serves a file of the browser build or calls the app. */
export function requestHandler({ clientDirectory, onEnded, onError, ...options }: Options): RequestListener {
  const compress = compressResponses();
  const files = staticFiles(clientDirectory);
  const app = toNodeHandler((request) =>
    options.fetch(publicRequest(request, options), routeClassOf(new URL(request.url).pathname)),
  ) as NodeHttp1Handler;
  return (request, response) => {
    const startedAt = performance.now();
    response.once("close", () => {
      const status = response.headersSent ? response.statusCode : 0;
      onEnded({ route: routeClassOf(pathOf(request)), status, seconds: (performance.now() - startedAt) / 1000 });
    });
    const refusal = refusalOf(request);
    if (refusal) {
      response.writeHead(refusal.status, { "content-type": "text/plain" }).end(refusal.text);
      discardBody(request);
      return;
    }
    limitTime(request, response);
    const dynamic = () => {
      compress(request as CompressionRequest, response as CompressionResponse, async () => {
        acceptEndCallback(response);
        try {
          await app(request, response);
        } catch (error) {
          onError(error, request);
          if (response.headersSent) response.destroy();
          else response.writeHead(500, { "content-type": "text/plain" }).end("Internal Server Error");
        }
      });
    };
    if (request.method === "GET" || request.method === "HEAD") files(request, response, dynamic);
    else dynamic();
  };
}

// The middleware's types are Express's, but it works with those of node:http.
type CompressionRequest = Parameters<ReturnType<typeof compression>>[0];
type CompressionResponse = Parameters<ReturnType<typeof compression>>[1];

/** Limits of a request's body: size and duration. */
type BodyLimit = { readonly bytes: number; readonly ms: number; readonly mayBeChunked?: boolean };

const mebibyte = 1024 * 1024;
const minuteMs = 60_000;
/** Everything but these is a form or a small JSON body. */
const ordinaryLimit: BodyLimit = { bytes: mebibyte, ms: minuteMs / 2 };
const bodyLimits: readonly (readonly [path: RegExp, limit: BodyLimit])[] = [
  [/^\/api\/github\/webhooks$/, { bytes: 25 * mebibyte, ms: minuteMs / 2 }],
  // A push that is passed on as it arrives.
  [/^\/api\/git\//, { bytes: 64 * mebibyte, ms: minuteMs / 2 }],
  // git sends large pushes in chunks; our git server refuses those above the limit, with a text for the client.
  [/^\/git\//, { bytes: Number.POSITIVE_INFINITY, ms: 60 * minuteMs, mayBeChunked: true }],
  [/^\/api\/v1\/repositories\/[^/]+\/commits$/, { bytes: 256 * mebibyte, ms: 10 * minuteMs }],
  // Texts of a commit, escaped.
  [/^\/(_serverFn\/code\.commitCode|api\/v1\/projects\/[^/]+\/code\/commits)$/, { bytes: 12 * mebibyte, ms: minuteMs }],
  // Files from a browser.
  [/^\/api\/(organizations|projects)\/.+\/uploads$/, { bytes: 256 * mebibyte, ms: 10 * minuteMs }],
];
/** The longest of them, for the server. */
export const longestRequestMs = Math.max(...bodyLimits.map(([, { ms }]) => ms));

const pathOf = ({ url = "/" }: IncomingMessage) => url.split("?", 1)[0] ?? "";

function limitOf(request: IncomingMessage): BodyLimit {
  const path = pathOf(request);
  return bodyLimits.find(([of]) => of.test(path))?.[1] ?? ordinaryLimit;
}

function refusalOf(request: IncomingMessage): { readonly status: number; readonly text: string } | null {
  const { url = "/", headers } = request;
  // A target in absolute or authority form (RFC 9112, section 3.2) would replace the origin.
  if (!url.startsWith("/") || !URL.canParse(url, "http://localhost")) return { status: 400, text: "Bad Request" };
  // NUL, which is in no name that anything has, and which PostgreSQL refuses to look for. The REST API refuses it as JSON.
  if (url.includes("%00") && !url.startsWith("/api/v1/")) return { status: 400, text: "Bad Request" };
  const limit = limitOf(request);
  // Requires a content-length, so that a body that is too large is refused before it is read.
  if (headers["transfer-encoding"] !== undefined && !limit.mayBeChunked)
    return { status: 411, text: "Length Required" };
  // A call without a function's name, which the framework would answer with 500.
  if (/^\/_serverFn\/(\/|$)/.test(pathOf(request))) return { status: 404, text: "Not Found" };
  return Number(headers["content-length"] ?? 0) <= limit.bytes ? null : { status: 413, text: "Payload Too Large" };
}

/** Ends a request whose body takes too long, like Node, which has only one limit for all requests. */
function limitTime(request: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => {
    if (request.complete) return;
    if (!response.headersSent) response.writeHead(408, { "content-type": "text/plain", connection: "close" });
    response.end("Request Timeout", () => request.destroy());
  }, limitOf(request).ms);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}

/** How long the rest of a refused body is read and discarded, milliseconds. */
const discardMs = 2000;

/** Reads on, because closing the connection while the client still sends would reset it before it sees the refusal. */
function discardBody(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), discardMs);
  timer.unref();
  request.on("error", () => {});
  request.on("close", () => clearTimeout(timer));
  request.resume();
}

/**
 * Serves the browser build. sirv lists the directory once, so no path can lead out of it. Files with a content hash in
 * their name are cached for a year, others are revalidated each time. The build makes the `.br` and `.gz` files.
 */
function staticFiles(directory: string) {
  return sirv(directory, {
    etag: true,
    brotli: true,
    gzip: true,
    extensions: [],
    setHeaders(response: ServerResponse, path: string) {
      response.setHeader("x-content-type-options", "nosniff");
      // Opened directly, an SVG is a document that can run scripts.
      if (path.endsWith(".svg"))
        response.setHeader("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
      const isHashed = path.startsWith("/assets/");
      response.setHeader("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
    },
  });
}

/** Compresses documents and JSON. Flushes at every chunk, because documents stream while they render. */
function compressResponses() {
  return compression({
    level: 4,
    flush: constants.Z_SYNC_FLUSH,
    brotli: {
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
    },
    filter: (_request, response) =>
      /^(text\/(?!event-stream)|application\/(json|x-ndjson))/.test(String(response.getHeader("content-type") ?? "")),
  });
}

/**
 * `compression` replaces `end` with one that ignores its callback, but srvx waits for it on responses without a body.
 */
function acceptEndCallback(response: ServerResponse): void {
  const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse;
  response.end = ((...given: unknown[]) => {
    const callback = given.at(-1);
    if (typeof callback !== "function") return end(...given);
    finished(response, () => callback());
    return end(...given.slice(0, -1));
  }) as ServerResponse["end"];
}

/** Only this server may set headers with this prefix. `@towpath/auth` reads the client's address from one of them. */
const ownHeaderPrefix = "x-towpath-";
const addressHeader = "x-towpath-client-address";

/**
 * The request as the app sees it. Its URL has the configured public origin instead of the Host header's, so that a
 * client can't influence links, redirects or origin checks.
 */
function publicRequest(
  request: ServerRequest,
  { baseUrl, clientAddress }: Pick<Options, "baseUrl" | "clientAddress">,
): Request {
  const headers = new Headers(request.headers);
  for (const name of [...headers.keys()]) if (name.startsWith(ownHeaderPrefix)) headers.delete(name);
  const { socket } = request.runtime?.node?.req ?? {};
  headers.set(addressHeader, clientAddress(socket?.remoteAddress ?? "", headers.get("x-forwarded-for") ?? undefined));
  const { pathname, search } = new URL(request.url);
  return new Request(`${baseUrl}${pathname}${search}`, {
    method: request.method,
    headers,
    signal: request.signal,
    ...(request.body ? { body: request.body, duplex: "half" } : {}),
  });
}
