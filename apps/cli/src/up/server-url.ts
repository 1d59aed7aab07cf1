import { randomBytes } from "node:crypto";
import { promises as dns, type LookupAddress } from "node:dns";
import type { ServersBy } from "../instance/instance.ts";
import type { UpOptions } from "./options.ts";

type Lookup = (name: string, options: { all: true }) => Promise<LookupAddress[]>;

/**
 * Whether every name below `localhost` resolves to this machine. Asks getaddrinfo, as MCP clients on Node and Python
 * do; browsers and curl resolve such names without asking it.
 */
export async function resolvesLocalhostNames(lookup: Lookup = dns.lookup): Promise<boolean> {
  const name = `towpath-${randomBytes(6).toString("hex")}.localhost`;
  const found = await lookup(name, { all: true }).catch(() => []);
  const isLoopback = ({ address }: LookupAddress) => address === "::1" || address.startsWith("127.");
  // The gateway listens on IPv4.
  return found.every(isLoopback) && found.some(({ address }) => address.startsWith("127."));
}

/**
 * Address of servers with `{name}`: the operator's, else in the instance's original form. So each server has its own
 * origin where clients can resolve it, and URLs of older instances keep working.
 */
export function serverUrlOf(options: UpOptions, servedBy: ServersBy): string {
  if (options.serverUrl !== null) return options.serverUrl;
  const { gatewayPort } = options;
  return servedBy === "host" ? `http://{name}.localhost:${gatewayPort}` : `http://localhost:${gatewayPort}/{name}`;
}
