import { isListed, networkList } from "./networks.ts";
import { isLoopbackAddress, isPublicAddress } from "./public-address.ts";

/** The allowed addresses of servers that tenants name. */
export type AddressPolicy = {
  /** Whether a connection may go to this IP address. Without TLS only to networks that the operator has named. */
  allows(address: string, protocol: "https:" | "http:"): boolean;
};

/** Cloud metadata, and addresses that mean "this host" on some systems: no setting opens these. */
const never = networkList([
  "0.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/3",
  "fd00:ec2::254/128",
  "fe80::/10",
  "ff00::/8",
  "::/128",
]);

/**
 * Public addresses, and those in the operator's networks, who is responsible for what can be reached there. `networks`:
 * as `parseNetworks` returns them.
 */
export function createAddressPolicy(networks: readonly string[]): AddressPolicy {
  const named = networkList(networks);
  return {
    allows: (address, protocol) =>
      !isListed(never, address) &&
      (isListed(named, address) || (protocol === "https:" && !isLoopbackAddress(address) && isPublicAddress(address))),
  };
}
