import type { IncomingMessage } from "node:http";
import { GatewayError } from "../gateway-error.ts";

/** The connection ends: what follows may be the rest of a body. */
const close = { connection: "close" };

/**
 * Refuses what Node's parser lets in, but servers and proxies may read differently (GW-9).
 *
 * @throws GatewayError 405, 501, 505
 */
export function checkRequest({ httpVersion, method, headers }: IncomingMessage): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    const message = `HTTP/${httpVersion} is not served here. Use HTTP/1.1; a proxy in front may offer HTTP/2.`;
    throw new GatewayError("unsupported_http_version", message, close);
  }
  if (method === "TRACE") {
    const message = "TRACE is not forwarded: the answer would reveal what proxies added to the request.";
    throw new GatewayError("method_not_allowed", message, { allow: "GET, POST, DELETE, OPTIONS, HEAD" });
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return;
  // RFC 9112 §6.1: no other coding is understood, and HTTP/1.0 has none.
  if (coding.toLowerCase() !== "chunked" || httpVersion === "1.0") {
    const message =
      "Only `Transfer-Encoding: chunked` is understood, in HTTP/1.1. To compress a body, use Content-Encoding.";
    throw new GatewayError("unsupported_transfer_encoding", message, close);
  }
}
