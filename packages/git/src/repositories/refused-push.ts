import { band, firstPacket, packetLength, packetOf } from "../pkt-line.ts";

const tooLarge = "pack exceeds maximum allowed size";

/**
 * Replaces git's answer to a push that is too large by one that names the limit and what to do. Passes on everything
 * else.
 */
export function explainRefusal(maxPushBytes: number): TransformStream<Uint8Array, Uint8Array> {
  const megabytes = Math.round(maxPushBytes / 1024 / 1024);
  const text = `This push is larger than ${megabytes} MB, the limit of this instance. Leave out large files such as data and models, also from earlier commits, then push again.\n`;
  const instead = packetOf(Buffer.of(band.progress), Buffer.from(text));
  let rest: Buffer = Buffer.alloc(0);
  let isRaw = false;
  return new TransformStream({
    transform(chunk, controller) {
      rest = Buffer.concat([rest, chunk]);
      for (let packet = firstPacket(rest); !isRaw && packet !== null; packet = firstPacket(rest)) {
        controller.enqueue(packet[4] === band.progress && packet.includes(tooLarge) ? instead : packet);
        rest = rest.subarray(packet.length);
      }
      isRaw ||= rest.length >= 4 && packetLength(rest) === null;
      if (!isRaw) return;
      controller.enqueue(rest);
      rest = Buffer.alloc(0);
    },
    flush(controller) {
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
}
