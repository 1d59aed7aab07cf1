import { createOTP } from "@better-auth/utils/otp";

/** The key in an `otpauth:` address, in base32. */
export const keyIn = (text: string): string => /[?&]secret=([A-Z2-7]+)/.exec(text)?.[1] ?? "";

/** The secret that a key stands for. Pages show keys in groups. */
export function secretOf(key: string): string {
  let bits = "";
  for (const letter of key.replaceAll(/\s/g, ""))
    bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  return (bits.match(/.{8}/g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 2))).join("");
}

/** A code of the app: 0 is the one that it shows now, 1 the next; both are accepted, also when a step ends meanwhile. */
export const appCode = (key: string, step: 0 | 1): Promise<string> =>
  createOTP(secretOf(key)).hotp(Math.floor(Date.now() / 30_000) + step);
