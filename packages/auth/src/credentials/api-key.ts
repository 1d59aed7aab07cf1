import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { sha256 } from "@towpath/crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 > 2^256, so 43 characters encode 32 bytes; 62^6 > 2^32, so 6 encode the checksum. */
const secretLength = 43;
const checksumLength = 6;
const pattern = new RegExp(`^tp_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

/** All keys start with it, so that secret scanners can find them. */
export const apiKeyPrefix = "tp_";

/** Creates an API key: `key` is shown once, `hash` is stored, `start` helps users tell keys apart (KEY-3). */
export function newApiKey(): { key: string; hash: string; start: string } {
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  const key = `${apiKeyPrefix}${secret}${checksum(secret)}`;
  return { key, hash: hashApiKey(key), start: key.slice(0, apiKeyPrefix.length + 4) };
}

/**
 * SHA-256 of the key, base64url without padding, as stored in `apikey.key`. Keys have 256 random bits, so they need no
 * salt.
 */
export const hashApiKey = (key: string): string => sha256(key);

/** Checks form and checksum, to reject a mistyped key without a database query. */
export function isWellFormedApiKey(key: string): boolean {
  if (!pattern.test(key)) return false;
  const secret = key.slice(apiKeyPrefix.length, apiKeyPrefix.length + secretLength);
  return key.slice(-checksumLength) === checksum(secret);
}

/** In numbers, not bigints: this runs for every call that shows a key. */
function checksum(secret: string): string {
  let text = "";
  for (let rest = crc32(secret); text.length < checksumLength; rest = Math.floor(rest / 62)) {
    text = alphabet.charAt(rest % 62) + text;
  }
  return text;
}

function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text;
}
