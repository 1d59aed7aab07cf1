import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import type { ServerAddress } from "../route/server-address.ts";
import { isListed, isLoopback, plainAddress } from "./connections.ts";

/**
 * The client's address. On a public gateway, TLS ends at a proxy on this machine or at one of the configured ones: what
 * they say of their clients in X-Forwarded-For is trusted, hop by hop from the last, up to the first address that is no
 * such proxy's. Anything before that, and anybody else's X-Forwarded-For, can be forged and is ignored.
 */
export function clientAddress(
  { isLoopback: isLocal }: Pick<ServerAddress, "isLoopback">,
  request: IncomingMessage,
  proxies: BlockList,
): string {
  // Unlike its type says, a request whose reading was given up has no socket any more.
  const socket: IncomingMessage["socket"] | null = request.socket;
  const peer = plainAddress(socket?.remoteAddress ?? "");
  const isProxy = (address: string) => isLoopback(address) || isListed(proxies, address);
  const header = request.headers["x-forwarded-for"];
  if (isLocal || typeof header !== "string" || !isProxy(peer)) return peer;
  let known = peer;
  for (const hop of header.split(",").reverse()) {
    const address = plainAddress(hop.trim());
    if (isIP(address) === 0) return known;
    known = address;
    if (!isProxy(address)) return address;
  }
  return known;
}
