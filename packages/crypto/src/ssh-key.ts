import { generateKeyPairSync, randomBytes } from "node:crypto";

type SshKey = {
  /** A line as in `authorized_keys`. */
  readonly publicKey: string;
  /** OpenSSH's format (PROTOCOL.key), without passphrase. */
  readonly privateKey: string;
};

const type = "ssh-ed25519";
/** The cipher "none" pads to 8 bytes. */
const blockBytes = 8;

/** A new Ed25519 key for OpenSSH. `comment`: what hosts show of it; without line breaks. */
export function createSshKey(comment: string): SshKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x = "", d = "" } = privateKey.export({ format: "jwk" });
  const [point, seed] = [Buffer.from(x, "base64url"), Buffer.from(d, "base64url")];
  const publicBlob = Buffer.concat([text(type), text(point)]);
  // Repeated, so that readers notice a wrong passphrase.
  const check = randomBytes(4);
  const secret = Buffer.concat([check, check, publicBlob, text(Buffer.concat([seed, point])), text(comment)]);
  const padding = Buffer.from(Array.from({ length: -secret.length & (blockBytes - 1) }, (_, index) => index + 1));
  const file = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    text("none"),
    text("none"),
    text(""),
    uint32(1),
    text(publicBlob),
    text(Buffer.concat([secret, padding])),
  ]);
  const lines = file.toString("base64").match(/.{1,70}/g) ?? [];
  return {
    publicKey: `${type} ${publicBlob.toString("base64")} ${comment}`,
    privateKey: ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n"),
  };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A string as in RFC 4251: its length, then its bytes. */
function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}
