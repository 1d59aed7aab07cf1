import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connections } from "./policy/connections.ts";

const lingerMs = 1000;

/**
 * The HTTP server in front of the gateway, with the limits of GW-9: head 32 KiB within 10 s, whole request within
 * 60 s (answers have no limit), strict parsing, so that a request that two parsers could read differently
 * (Content-Length beside Transfer-Encoding, bad line ends, odd header names) never gets in.
 */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  connections: Connections,
): Server {
  const server = createServer(
    {
      maxHeaderSize: 32 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: 5000,
      insecureHTTPParser: false,
      // A request without Host gets our own 404 instead of Node's 400.
      requireHostHeader: false,
    },
    (request, response) => {
      connections.requestStarted(request.socket, response);
      handle(request, response);
    },
  );
  server.on("connection", (socket) => connections.accept(socket));
  server.timeout = 0;
  server.maxHeadersCount = 200;
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const status =
      error.code === "HPE_HEADER_OVERFLOW"
        ? "431 Request Header Fields Too Large"
        : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
          ? "408 Request Timeout"
          : "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    // Give the client time to read that, but don't wait for it to close the connection.
    setTimeout(() => socket.destroy(), lingerMs).unref();
  });
  return server;
}

/**
 * Stops a server: no new connections, running requests get `graceMs` to end, streams that remain are cut.
 * Resolves when all connections are closed.
 */
export async function closeHttpServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
