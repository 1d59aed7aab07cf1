import { createSocket } from "node:dgram";
import { once } from "node:events";

type DnsRecord = { readonly type: keyof typeof types; readonly value: string };

const types = { A: 1, CNAME: 5, TXT: 16 } as const;
const codes = { found: 0, failed: 2, absent: 3 } as const;

export type DnsServer = {
  /** `127.0.0.1:port`, for TOWPATH_DNS_SERVERS. */
  readonly address: string;
  /** Records by name; `failed`: the server reports that it failed. A name that isn't here doesn't exist. */
  readonly records: Map<string, readonly DnsRecord[] | "failed">;
  close(): void;
};

/** A DNS server with the records that a test gives it (RFC 1035, section 4). */
export async function startDnsServer(): Promise<DnsServer> {
  const records: DnsServer["records"] = new Map();
  const socket = createSocket("udp4", (question, { port, address }) =>
    socket.send(answerTo(question, records), port, address),
  );
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${socket.address().port}`, records, close: () => void socket.close() };
}

function answerTo(question: Buffer, records: DnsServer["records"]): Buffer {
  const { name, type, end } = questionOf(question);
  const known = records.get(name);
  const found = Array.isArray(known) ? known.filter((record: DnsRecord) => types[record.type] === type) : [];
  const code = known === "failed" ? codes.failed : known === undefined ? codes.absent : codes.found;
  const head = Buffer.from(question.subarray(0, 12));
  // An answer, with recursion as asked for and available.
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(found.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, question.subarray(12, end), ...found.map((record: DnsRecord) => resourceOf(record))]);
}

function questionOf(question: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
    labels.push(question.toString("ascii", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 };
}

/** For the name in the question, to which it points. */
function resourceOf({ type, value }: DnsRecord): Buffer {
  const data = dataOf[type](value);
  const head = Buffer.from([0xc0, 0x0c, 0, types[type], 0, 1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

const withLength = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length]), bytes]);

const dataOf = {
  A: (address: string) => Buffer.from(address.split(".").map(Number)),
  CNAME: (name: string) =>
    Buffer.concat([...name.split(".").map((label) => withLength(Buffer.from(label))), Buffer.from([0])]),
  // A text is stored in pieces of at most 255 bytes.
  TXT: (text: string) => Buffer.concat((text.match(/.{1,100}/g) ?? []).map((piece) => withLength(Buffer.from(piece)))),
} as const;
