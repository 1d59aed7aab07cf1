import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { expect, test } from "vitest";
import { decryptFile, encryptFile, isPrivateKey, isPublicKey } from "./file.ts";

const plain = randomBytes(200_000);
const encrypt = async (recipient: Parameters<typeof encryptFile>[1]) =>
  buffer(await encryptFile(Readable.from([plain]), recipient));
const decrypt = async (bytes: Uint8Array, identity: Parameters<typeof decryptFile>[1]) =>
  buffer(await decryptFile(Readable.from([Buffer.from(bytes)]), identity));

test("OPS-8 a file is opened by its passphrase, or by the private key of any of its public ones, and by nothing else", async () => {
  const [mine, yours] = [await generateX25519Identity(), await generateX25519Identity()];
  const publicKeys = [await identityToRecipient(mine), await identityToRecipient(yours)];
  expect([isPublicKey(publicKeys[0] ?? ""), isPublicKey(mine), isPrivateKey(mine), isPrivateKey("x")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  const sealed = await encrypt({ publicKeys });
  expect(sealed.subarray(0, 21).toString()).toBe("age-encryption.org/v1");
  for (const key of [mine, yours]) expect((await decrypt(sealed, { privateKeys: [key] })).equals(plain)).toBe(true);
  const wrongKey = expect.objectContaining({ code: "wrong_key" });
  await expect(decrypt(sealed, { privateKeys: [await generateX25519Identity()] })).rejects.toEqual(wrongKey);
  await expect(decrypt(sealed, { passphrase: "a passphrase" })).rejects.toEqual(wrongKey);
  const phrased = await encrypt({ passphrase: "correct horse" });
  expect((await decrypt(phrased, { passphrase: "correct horse" })).equals(plain)).toBe(true);
  await expect(decrypt(phrased, { passphrase: "correct house" })).rejects.toEqual(wrongKey);
  // Each guess at a passphrase takes a second or more of a processor, on purpose.
}, 120_000);

test("OPS-8 a file that lacks its end, has another byte, or is none, is damaged", async () => {
  const identity = await generateX25519Identity();
  const sealed = await encrypt({ publicKeys: [await identityToRecipient(identity)] });
  const flipped = Buffer.from(sealed);
  flipped[150_000] = (flipped[150_000] ?? 0) ^ 1;
  // Also at the end of a chunk, where nothing is missing but the mark of the last one.
  const header = sealed.length % (64 * 1024 + 16);
  const faulty = [
    flipped,
    sealed.subarray(0, 100_000),
    sealed.subarray(0, sealed.length - header),
    sealed.subarray(0, 50),
    Buffer.from("no"),
    Buffer.alloc(0),
  ];
  for (const each of faulty)
    await expect(decrypt(each, { privateKeys: [identity] })).rejects.toMatchObject({ code: "damaged" });
});
