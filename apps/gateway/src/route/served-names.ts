import type { RouteTable } from "./route-table.ts";
import { destinationOf, type ServerAddress } from "./server-address.ts";

/** Whether requests to a host name, without a port, reach a server. Where all share a host, that is the only one. */
export function isServed(
  address: ServerAddress,
  routes: Pick<RouteTable, "find" | "labelOfDomain">,
  hostName: string,
): boolean {
  const destination = destinationOf(address, hostName, "/mcp", routes.labelOfDomain);
  if (address.form === "path") return destination.kind !== "unknown-host";
  return destination.kind === "server" && routes.find(destination.label) !== undefined;
}
