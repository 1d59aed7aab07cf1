// Packets of git's protocol: their length including itself as four hex digits, then the content (gitprotocol-common,
// "pkt-line Format").

/** Bands that the first byte of a response's packets names (gitprotocol-pack, "Packfile Data"); progress is for people. */
export const band = { data: 1, progress: 2 } as const;

/** Length of the packet at the beginning of at least four bytes; null: it is none. Below four, it is a mark without content. */
export function packetLength(bytes: Buffer): number | null {
  const digits = bytes.toString("latin1", 0, 4);
  return /^[0-9a-f]{4}$/i.test(digits) ? Math.max(4, Number.parseInt(digits, 16)) : null;
}

/** The packet at the beginning, with its length; null: it isn't complete, or none. */
export function firstPacket(bytes: Buffer): Buffer | null {
  const length = packetLength(bytes);
  return length === null || bytes.length < length ? null : bytes.subarray(0, length);
}

export function packetOf(...content: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}
