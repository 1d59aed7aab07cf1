import { BlockList, isIP } from "node:net";

/**
 * A setting's networks: CIDR notation, or single addresses, separated by commas. Each is returned with its prefix.
 *
 * @throws Error that names the first invalid one
 */
export function parseNetworks(text: string): string[] {
  const given = text.split(",").map((each) => each.trim());
  return given.filter((each) => each !== "").map(parseNetwork);
}

function parseNetwork(text: string): string {
  const [address = "", given, ...more] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  const prefix = given ?? String(bits);
  if (isIP(address) === 0 || more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits)
    throw new Error(`must be addresses or networks such as 10.0.0.0/8, separated by commas; "${text}" is neither`);
  return `${address}/${prefix}`;
}

/** `networks`: as `parseNetworks` returns them. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix = ""] = network.split("/");
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** For both families; an IPv4 address in IPv6 form counts as the IPv4 address. False if it is no address. */
export function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
}
