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
