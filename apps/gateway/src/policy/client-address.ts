import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { isListed, isLoopbackAddress } from "@towpath/egress";
import { forwardedAddress, plainAddress } from "@towpath/limits";
import type { ServerAddress } from "../route/server-address.ts";

/**
 * The client's address. On a public gateway, TLS ends at a proxy on this machine or at one of the configured ones: what
 * they say of their clients in X-Forwarded-For is trusted.
 */
export function clientAddress(
  { isLoopback: isLocal }: Pick<ServerAddress, "isLoopback">,
  request: IncomingMessage,
  proxies: BlockList,
): string {
  // Unlike its type says, a request whose reading was given up has no socket any more.
  const socket: IncomingMessage["socket"] | null = request.socket;
  const peer = plainAddress(socket?.remoteAddress ?? "");
  const header = request.headers["x-forwarded-for"];
  if (isLocal || typeof header !== "string") return peer;
  return forwardedAddress(peer, header, (address) => isLoopbackAddress(address) || isListed(proxies, address));
}
