import { isIP } from "node:net";

/**
 * The network of a client for limits by address: the first 64 bits of an IPv6 address, because a single client has all
 * of them, or an IPv4 address unchanged. Takes what `net.isIP` accepts.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address.toLowerCase());
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = (plain.split("%", 1)[0] ?? "").split("::");
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const groups = tail === undefined ? front : [...front, ...Array(8 - front.length - back.length).fill(0), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  // The last 32 bits may be written as an IPv4 address, which is two groups.
  return text.split(":").flatMap((group) => (group.includes(".") ? [0, 0] : [Number.parseInt(group, 16)]));
}

/** Strips the prefix of IPv4-mapped IPv6 addresses. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

/**
 * The address of a client behind reverse proxies: X-Forwarded-For of a trusted `peer` counts hop by hop from the last,
 * up to the first address that is no trusted proxy's. Earlier entries, and those of other peers, can be forged.
 */
export function forwardedAddress(
  peer: string,
  forwardedFor: string | undefined,
  isProxy: (address: string) => boolean,
): string {
  if (forwardedFor === undefined || !isProxy(peer)) return peer;
  let known = peer;
  for (const hop of forwardedFor.split(",").reverse()) {
    const address = plainAddress(hop.trim());
    if (isIP(address) === 0) return known;
    known = address;
    if (!isProxy(address)) return address;
  }
  return known;
}
