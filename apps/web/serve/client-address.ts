import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/**
 * Who called. A proxy on this machine is believed about the last hop that it saw; anybody else's X-Forwarded-For is
 * only what a client likes to say.
 */
export function clientAddress(request: IncomingMessage): string {
  const peer = plainAddress(request.socket.remoteAddress ?? "");
  if (!isLoopback(peer)) return peer;
  const forwarded =
    String(request.headers["x-forwarded-for"] ?? "")
      .split(",")
      .at(-1)
      ?.trim() ?? "";
  return isIPv4(forwarded) || isIPv6(forwarded) ? forwarded : peer;
}

const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "");

const isLoopback = (address: string) => address === "::1" || address.startsWith("127.");
