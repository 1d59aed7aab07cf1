/**
 * The network of a client, as limits by address see it: the first 64 bits of an IPv6 address, of which a single client
 * has all, and an IPv4 address as it is. Takes what `net.isIP` accepts.
 */
export function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
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
