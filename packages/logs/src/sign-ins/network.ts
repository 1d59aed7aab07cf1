import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * The network of an address, which shows where a client runs without identifying a person's connection: IPv4 /24, IPv6
 * /48, `loopback` for this machine. Null if it is no address.
 */
export function networkOf(address: string | null): string | null {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
  const version = isIP(plain);
  if (version === 0) return null;
  if (loopback.check(plain, version === 4 ? "ipv4" : "ipv6")) return "loopback";
  if (version === 4) return `${plain.slice(0, plain.lastIndexOf("."))}.0/24`;
  const [start = ""] = (plain.split("%", 1)[0] ?? "").toLowerCase().split("::");
  const groups = [...start.split(":").filter(Boolean), "0", "0", "0"].slice(0, 3);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/48`;
}
