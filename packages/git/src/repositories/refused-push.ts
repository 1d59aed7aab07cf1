const tooLarge = "pack exceeds maximum allowed size";
/** Of a packet: what git's client prints behind `remote:`. */
const messages = 2;

/**
 * Says in git's answer to a push that is too large what the limit is and what to do, in place of git's own words. Passes
 * everything else on. Source: gitprotocol-common(5), "pkt-line format"; gitprotocol-pack(5), "side-band".
 */
export function explainRefusal(maxPushBytes: number): TransformStream<Uint8Array, Uint8Array> {
  const megabytes = Math.round(maxPushBytes / 1024 / 1024);
  const text = `This push is larger than ${megabytes} MB, the limit of this instance. Leave out large files such as data and models, also from the commits before, then push again.\n`;
  const instead = packet(Buffer.concat([Buffer.from([messages]), Buffer.from(text)]));
  let rest: Buffer = Buffer.alloc(0);
  let isRaw = false;
  return new TransformStream({
    transform(chunk, controller) {
      rest = Buffer.concat([rest, chunk]);
      while (!isRaw && rest.length >= 4) {
        const length = lengthOf(rest);
        if (length === null) isRaw = true;
        else if (rest.length < length) return;
        else {
          const found = rest.subarray(0, length);
          controller.enqueue(found[4] === messages && found.includes(tooLarge) ? instead : found);
          rest = rest.subarray(length);
        }
      }
      if (!isRaw) return;
      controller.enqueue(rest);
      rest = Buffer.alloc(0);
    },
    flush(controller) {
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
}

/** Of the packet at the beginning, with its own four digits; null for what is none. Those below four have no content. */
function lengthOf(bytes: Buffer): number | null {
  const digits = bytes.toString("latin1", 0, 4);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Math.max(4, Number.parseInt(digits, 16)) : null;
}

const packet = (content: Buffer): Buffer =>
  Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, "0")), content]);
