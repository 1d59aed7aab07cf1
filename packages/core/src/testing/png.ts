import { crc32, deflateSync } from "node:zlib";

/** A gray PNG; `mark` makes its bytes differ from another's. */
export function png(width: number, height: number, mark = ""): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    const body = Buffer.concat([Buffer.from(type), data]);
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const pixels = deflateSync(Buffer.alloc(height * (width + 1), 0x80));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const text = chunk("tEXt", Buffer.from(`Comment\0${mark}`));
  return Buffer.concat([signature, chunk("IHDR", header), text, chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}
