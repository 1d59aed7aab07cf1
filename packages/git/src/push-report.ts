import { band, firstPacket, packetOf } from "./pkt-line.ts";

/** Of a packet in a band. */
const maxPayload = 65_515;

/**
 * Passes on the output of `git receive-pack`, but holds its report of each ref's result until `outcome` resolves. If
 * `outcome` is a reason, the report refuses all refs; if it rejects, the report is passed on unchanged.
 */
export async function* holdReport(
  output: AsyncIterable<Buffer>,
  outcome: Promise<string | null>,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const held: Buffer[] = [];
  for await (const chunk of output) {
    rest = Buffer.concat([rest, chunk]);
    for (let packet = firstPacket(rest); packet !== null; packet = firstPacket(rest)) {
      rest = rest.subarray(packet.length);
      if (held.length === 0 && packet[4] === band.progress) yield packet;
      else held.push(packet);
    }
  }
  if (rest.length > 0) held.push(rest);
  const refusal = await outcome.catch(() => null);
  yield* refusal === null ? held : refuseAll(held, refusal);
}

/** The report's own packets are in packets of the data band, or bare where the client asked for no bands. */
function refuseAll(held: readonly Buffer[], reason: string): readonly Buffer[] {
  const isData = (packet: Buffer) => packet[4] === band.data;
  const isBanded = held.some(isData);
  const report = isBanded ? held.filter(isData).map((packet) => packet.subarray(5)) : held;
  const refused = Buffer.concat(refusedLines(Buffer.concat(report), reason));
  if (!isBanded) return [refused];
  const parts: Buffer[] = [];
  for (let at = 0; at < refused.length; at += maxPayload) {
    parts.push(packetOf(Buffer.of(band.data), refused.subarray(at, at + maxPayload)));
  }
  return [...parts, ...held.filter((packet) => !isData(packet))];
}

function refusedLines(report: Buffer, reason: string): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0, packet = firstPacket(report); packet !== null; packet = firstPacket(report.subarray(at))) {
    at += packet.length;
    const [, ref] = /^ok ([^\n]+)/.exec(packet.toString("utf8", 4)) ?? [];
    if (ref !== undefined) lines.push(packetOf(Buffer.from(`ng ${ref} ${reason.replaceAll("\n", " ")}\n`)));
    // Options belong to an accepted ref.
    else if (!packet.toString("latin1", 4).startsWith("option ")) lines.push(packet);
  }
  return lines;
}
