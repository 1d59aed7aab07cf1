import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connections } from "./policy/connections.ts";
import { refuseTunnel, refuseUnread } from "./wire/parser-errors.ts";

/** Milliseconds. */
export type Timeouts = {
  /** From a request's first byte, or its connection, to the end of its headers. */
  readonly headers: number;
  /** To the end of its body. */
  readonly request: number;
  /** A connection may be idle between two requests. */
  readonly idle: number;
  /** How often connections are checked. */
  readonly check: number;
};

const defaultTimeouts: Timeouts = { headers: 10_000, request: 60_000, idle: 75_000, check: 5000 };

/**
 * The HTTP server in front of the gateway, with the limits of GW-9: head 32 KiB with 200 headers within 10 s, whole
 * request within 60 s (answers have no limit). Parsing is strict: a request that two parsers could read differently
 * (Content-Length beside Transfer-Encoding, bad line ends, odd header names) is refused.
 */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  connections: Pick<Connections, "accept" | "requestStarted">,
  timeouts: Timeouts = defaultTimeouts,
): Server {
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    connections.requestStarted(request.socket, response);
    handle(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: 32 * 1024,
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      keepAliveTimeout: timeouts.idle,
      connectionsCheckingInterval: timeouts.check,
      insecureHTTPParser: false,
      // A request without Host gets our own 404 instead of Node's 400.
      requireHostHeader: false,
    },
    serve,
  );
  server.on("connection", (socket) => connections.accept(socket));
  server.timeout = 0;
  server.maxHeadersCount = 200;
  // An unknown expectation is ignored (RFC 9110 §10.1.1 allows a 417, which Node sends without a reason).
  server.on("checkExpectation", serve);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseUnread(socket, error));
  server.on("connect", (_request, socket: Socket) => refuseTunnel(socket));
  return server;
}
