import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { isListed, isLoopbackAddress } from "@towpath/egress";
import { forwardedAddress, plainAddress } from "@towpath/limits";
import type { ServerAddress } from "../route/server-address.ts";

/**
 * The client's address. On a public gateway, TLS ends at a proxy on this machine or at a configured one, whose
 * X-Forwarded-For is trusted.
 */
export function clientAddress(
  { isLoopback: isLocal }: Pick<ServerAddress, "isLoopback">,
  request: IncomingMessage,
  proxies: BlockList,
): string {
  // Contrary to its type, an aborted request has no socket any more.
  const socket: IncomingMessage["socket"] | null = request.socket;
  const peer = plainAddress(socket?.remoteAddress ?? "");
  const header = request.headers["x-forwarded-for"];
  if (isLocal || typeof header !== "string") return peer;
  return forwardedAddress(peer, header, (address) => isLoopbackAddress(address) || isListed(proxies, address));
}
