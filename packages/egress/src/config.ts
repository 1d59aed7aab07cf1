import { isIP } from "node:net";
import { z } from "zod";
import { parseNetworks } from "./networks.ts";

/** A setting whose value is a list of networks, as `parseNetworks` returns them. Default: none. */
export const networksSetting = z
  .string()
  .default("")
  .transform((text, context): readonly string[] => {
    try {
      return parseNetworks(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

/** Settings of every process that connects to hosts which users name. */
export const externalNetworkSettings = {
  /** Private networks in which external servers and Git repositories may be; else only public addresses. */
  TOWPATH_EXTERNAL_NETWORKS: networksSetting.refine(
    (networks) => networks.every((network) => Number(network.split("/")[1]) > 0),
    "must name the networks: a prefix of 0 would allow all addresses",
  ),
};

/** An IP address, with a port or without. */
function isDnsServer(text: string): boolean {
  const [, address = text, port = "53"] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d+)$/.exec(text)?.filter(Boolean) ?? [];
  return isIP(address) !== 0 && Number(port) > 0 && Number(port) < 65_536;
}

/** Settings of processes that look up DNS records. */
export const dnsSettings = {
  /** Where they are looked up; empty: where the host looks names up. */
  TOWPATH_DNS_SERVERS: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((server) => server.trim())
        .filter(Boolean),
    )
    .refine((servers) => servers.every(isDnsServer), "must be IP addresses, separated by commas"),
};
