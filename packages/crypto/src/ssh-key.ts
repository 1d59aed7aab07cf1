import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";

type SshKey = {
  /** A line as in `authorized_keys`. */
  readonly publicKey: string;
  /** OpenSSH's format (PROTOCOL.key), without passphrase. */
  readonly privateKey: string;
};

/** A key as agents use it. */
export type SshSigner = {
  /** As on the wire (RFC 8709), not in Base64. */
  readonly publicBlob: Buffer;
  readonly sign: (data: Uint8Array) => Buffer;
};

const type = "ssh-ed25519";
const magic = "openssh-key-v1\0";
/** The cipher "none" pads to 8 bytes. */
const blockBytes = 8;

/** A new Ed25519 key for OpenSSH. `comment`: its label at hosts; without line breaks. */
export function createSshKey(comment: string): SshKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x = "", d = "" } = privateKey.export({ format: "jwk" });
  const [point, seed] = [Buffer.from(x, "base64url"), Buffer.from(d, "base64url")];
  const publicBlob = Buffer.concat([sshString(type), sshString(point)]);
  // Repeated, so that readers detect a wrong passphrase.
  const check = randomBytes(4);
  const secret = Buffer.concat([check, check, publicBlob, sshString(Buffer.concat([seed, point])), sshString(comment)]);
  const padding = Buffer.from(Array.from({ length: -secret.length & (blockBytes - 1) }, (_, index) => index + 1));
  const file = Buffer.concat([
    Buffer.from(magic),
    sshString("none"),
    sshString("none"),
    sshString(""),
    uint32(1),
    sshString(publicBlob),
    sshString(Buffer.concat([secret, padding])),
  ]);
  const lines = file.toString("base64").match(/.{1,70}/g) ?? [];
  return {
    publicKey: `${type} ${publicBlob.toString("base64")} ${comment}`,
    privateKey: ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n"),
  };
}

/** Opens a private key that `createSshKey` has created. @throws Error for any other text, without repeating it */
export function openSshKey(privateKey: string): SshSigner {
  const file = Buffer.from(privateKey.replace(/-----[A-Z ]+-----/g, ""), "base64");
  // Ciphers, the number of keys and the check come first; all have fixed lengths.
  const start = magic.length + 2 * sshString("none").length + sshString("").length + 4;
  const [publicBlob, secret] = readStrings(file.subarray(start));
  const [kind, point, pair] = readStrings(secret?.subarray(8));
  if (!publicBlob || kind?.toString() !== type || point?.length !== 32 || pair?.length !== 64)
    throw new Error("not a private key as createSshKey makes them");
  const jwk = { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") };
  const key = createPrivateKey({ key: { ...jwk, d: pair.toString("base64url", 0, 32) }, format: "jwk" });
  return { publicBlob, sign: (data) => Buffer.concat([sshString(type), sshString(sign(null, data, key))]) };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A string as in RFC 4251: its length, then its bytes. */
export function sshString(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

/** Consecutive strings (RFC 4251) in some bytes, up to one that is cut off. */
export function readStrings(bytes: Buffer = Buffer.alloc(0)): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}
