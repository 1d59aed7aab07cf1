import type { Socket } from "node:net";

/** Time for a client to read the refusal before its connection is cut. */
const lingerMs = 1000;

type Refusal = { readonly status: string; readonly code: string; readonly message: string };

const malformed: Refusal = {
  status: "400 Bad Request",
  code: "malformed_request",
  message:
    "This HTTP/1.1 request is malformed or ambiguous. Use a standard HTTP client: lines end in CRLF, " +
    "Content-Length or Transfer-Encoding is given once and not both, and header names hold no spaces.",
};

/** By the code of Node's error; all others are `malformed`. */
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    code: "headers_too_large",
    message:
      "The request line and its headers are larger than 32 KiB, or there are more than 200 headers. Leave out cookies " +
      "and headers that the server doesn't need.",
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: "413 Content Too Large",
    code: "body_too_large",
    message: "The extensions of the body's chunks are larger than 16 KiB. Send chunks without extensions.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: "408 Request Timeout",
    code: "request_timeout",
    message: "The request took too long to arrive: 10 s for its headers, 60 s for all of it. Send it again.",
  },
};

/** Answers on a connection whose request could not be read, and closes it. */
export function refuseUnread(socket: Socket, error: NodeJS.ErrnoException): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  answerAndClose(socket, refusals[error.code ?? ""] ?? malformed);
}

/** CONNECT would tunnel to anywhere. */
export function refuseTunnel(socket: Socket): void {
  answerAndClose(socket, {
    status: "405 Method Not Allowed",
    code: "method_not_allowed",
    message: "This is a gateway to MCP servers, not a proxy. Send requests for a server to its own address.",
  });
}

/** Refuses a client address with too many connections, without waiting for its request. */
export function refuseConnection(socket: Socket): void {
  const text = textOf({
    status: "429 Too Many Requests",
    code: "too_many_connections",
    message:
      "Too many connections from this IP address are open, or come too fast. Close unused ones, " +
      "and keep one open for several requests.",
  });
  socket.on("error", () => {});
  socket.write(text);
  socket.destroySoon();
}

function answerAndClose(socket: Socket, refusal: Refusal): void {
  socket.on("error", () => {});
  socket.end(textOf(refusal));
  // Don't wait for the client to close the connection.
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function textOf({ status, code, message }: Refusal): string {
  const body = `${JSON.stringify({ error: { code, message } })}\n`;
  const wait = status.startsWith("429") ? "Retry-After: 5\r\n" : "";
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Cache-Control: no-store\r\n${wait}Connection: close\r\n\r\n${body}`
  );
}
