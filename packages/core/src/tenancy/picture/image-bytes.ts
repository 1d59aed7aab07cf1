export type ImageType = "image/png" | "image/webp" | "image/jpeg";

type Image = { readonly type: ImageType; readonly width: number; readonly height: number };

/**
 * What kind of picture these bytes are and how large, by their headers; null for anything else, such as SVG, which can
 * run scripts. What browsers then make of the bytes is settled by the type with which they are served.
 */
export function readImage(bytes: Buffer): Image | null {
  try {
    return png(bytes) ?? webp(bytes) ?? jpeg(bytes);
  } catch (error) {
    // A header that ends too early.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** PNG (ISO 15948), 5.2 and 11.2.2: the signature, then the chunk IHDR, which begins with width and height. */
function png(bytes: Buffer): Image | null {
  if (!bytes.subarray(0, 8).equals(pngSignature) || bytes.toString("latin1", 12, 16) !== "IHDR") return null;
  return { type: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** RFC 9649, 2.4 to 2.7: a RIFF container whose first chunk says how the picture is encoded. */
function webp(bytes: Buffer): Image | null {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP") return null;
  const type = "image/webp";
  const chunk = bytes.toString("latin1", 12, 16);
  if (chunk === "VP8 ")
    return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (chunk === "VP8L") {
    const sizes = bytes.readUInt32LE(21);
    return { type, width: (sizes & 0x3fff) + 1, height: ((sizes >>> 14) & 0x3fff) + 1 };
  }
  if (chunk === "VP8X") return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  return null;
}

/** Markers of frames (ITU T.81, table B.1): C0 to CF without DHT, JPG and DAC. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** ITU T.81, B.1.1: segments, each with its length, until the frame's header. */
function jpeg(bytes: Buffer): Image | null {
  if (bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; bytes.readUInt8(at) === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (isFrame(bytes.readUInt8(at + 1)))
      return { type: "image/jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return null;
}
