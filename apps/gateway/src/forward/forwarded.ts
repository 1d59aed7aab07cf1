import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import { isListed, isLoopback, plainAddress } from "../police/connections.ts";
import type { ServerAddress } from "../route/server-address.ts";

/**
 * Flat list of the headers that tell a server its public address and its caller's: a server that does its own
 * sign-in makes its URLs from them (GW-4), and the harness believes them.
 */
export function forwardedHeaders(
  address: ServerAddress,
  label: string,
  { request, proxies }: { request: IncomingMessage; proxies: BlockList },
): string[] {
  const { form, hostName, port, protocol } = address;
  return [
    "x-forwarded-for",
    clientAddress(address, request, proxies),
    "x-forwarded-proto",
    protocol,
    "x-forwarded-host",
    form === "host" ? `${label}${hostName}${port}` : `${hostName}${port}`,
  ];
}

/**
 * Who called. On a public gateway a proxy on this machine ends TLS, or one of those in the settings: it is believed
 * about the last hop that it saw; anybody else's X-Forwarded-For is only what a client likes to say.
 */
function clientAddress(address: ServerAddress, request: IncomingMessage, proxies: BlockList): string {
  const peer = plainAddress(request.socket.remoteAddress ?? "");
  if (address.isLoopback || !(isLoopback(peer) || isListed(proxies, peer))) return peer;
  const told = request.headers["x-forwarded-for"];
  if (typeof told !== "string") return peer;
  const last = told.slice(told.lastIndexOf(",") + 1).trim();
  return isIP(last) === 0 ? peer : last;
}
