import { BlockList, isIP } from "node:net";
import { isLoopbackAddress, isPublicAddress } from "./public-address.ts";

/** Which addresses servers that tenants name may have. */
export type AddressPolicy = {
  /** Whether a connection may go to this IP address. Without TLS only to networks that the operator has named. */
  allows(address: string, protocol: "https:" | "http:"): boolean;
};

/** Metadata of clouds and what means "this host" on some systems: no setting opens these. */
const never = new BlockList();
never.addSubnet("0.0.0.0", 8, "ipv4");
never.addSubnet("169.254.0.0", 16, "ipv4");
never.addSubnet("224.0.0.0", 3, "ipv4");
never.addAddress("fd00:ec2::254", "ipv6");
never.addSubnet("fe80::", 10, "ipv6");
never.addSubnet("ff00::", 8, "ipv6");
never.addAddress("::", "ipv6");

/** Of both families, and IPv4 addresses in IPv6 form with their IPv4 rules. */
const contains = (list: BlockList, address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
};

/**
 * Public addresses, and those in the networks of the operator, who answers for what can be reached there. `networks`:
 * as `parseNetworks` returns them.
 */
export function createAddressPolicy(networks: readonly string[]): AddressPolicy {
  const named = new BlockList();
  for (const network of networks) {
    const [address = "", prefix = ""] = network.split("/");
    named.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return {
    allows: (address, protocol) =>
      !contains(never, address) &&
      (contains(named, address) || (protocol === "https:" && !isLoopbackAddress(address) && isPublicAddress(address))),
  };
}

/**
 * A setting's networks: CIDR notation, or single addresses, separated by commas.
 *
 * @throws Error that names the first one that is none
 */
export function parseNetworks(text: string): string[] {
  const given = text.split(",").map((each) => each.trim());
  return given.filter((each) => each !== "").map(parseNetwork);
}

function parseNetwork(text: string): string {
  const [address = "", given, ...more] = text.split("/");
  const family = isIP(address);
  const bits = family === 4 ? 32 : 128;
  const prefix = given ?? String(bits);
  if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits || Number(prefix) < 1)
    throw new Error(`must be networks such as 10.0.0.0/8, separated by commas; "${text}" is none`);
  return `${address}/${prefix}`;
}
