import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  createSshKey,
  deriveKey,
  equalInConstantTime,
  hmacSha256,
  keyPurposes,
  open,
  openWithKeyId,
  randomToken,
  seal,
  sealWithKeyId,
  sha256,
} from "./index.ts";

const root = "a root secret for tests, of 32 characters or more";

// Recorded when each purpose came into being: a change here would lose stored secrets and sign everybody out.
const recordedKeys = {
  "portal-member": "b9decd974af9ad65f13911044f3c6b9e4043e5c0f74ffcf509cf10483af48b56",
  session: "85898309706491beb2f72580e496662f4ce53bf134a82bc231a087048aa5d114",
  "cookie-name": "4a69002a624b58abbfc307f285a531b9ff546c0be09bd8cb20f42d035a98931d",
  "session-secret": "0fa6c8783d8136a5a6fac83933809a1e78a89c779984436d3cdad95a0a205d7d",
  "project-secret": "4b17261930a139d63ec0c89919925119de980e4251393c04a237f3689047d7ee",
  "mcp-session": "72e949c33fe59f0b49da4cf0a7bc2563ecf84f28c2ae80a906080e381b7d46c9",
  "runner-api": "bd124fcf4564a8e80876001e54a7dd672d3efd4f86a63a80fc8843efd66f12de",
  "waiting-pods": "eb5f53b7edbbc9cf2c84fcae3ce3302d16c277c3e6e1728602e04ec046f7f5fc",
  "refresh-token": "d760f959efd584f682868f4297bdc7e887ef5f6682576201145f4efd64fddc61",
  "signing-keys": "12328598ae6c6b0fdf40442bdbbc09ccd062b3e31bab1b3a5361c37972efc99c",
  "gateway-state": "02ff58f82edbe29cff0e6f7911de88997a394b07c7271c74177b0efc0ad3c2e4",
  mail: "c184f571c219e3e386a1fd4e8c29b00c6bbb31107b7e38852eeb319a7045a051",
  "kept-result": "8320775554daf4071af45ce2954b16848d9f400297de754133f94efcd314bc81",
  "kept-call": "375d26906abccd3fccf7de8498f9540971de04daee673df7a79174e07413f82c",
  "task-id": "2e093ce1cb94252f20ed32f76ddaaa9deda1babc2c1fcd37ea25c8770053ab70",
  "call-replay": "3d5b7e0cedf5e9cc0f261d3378c59986d022b70875215d222c62252a86d0e701",
};

test("KEY-2 the keys of every purpose are those with which stored data was made", () => {
  const keys = Object.keys(keyPurposes).map((purpose) => {
    const { bytes } = deriveKey(root, purpose as keyof typeof keyPurposes);
    return [purpose, Buffer.from(bytes).toString("hex")];
  });
  expect(Object.fromEntries(keys)).toEqual(recordedKeys);
  expect(new Set(Object.values(recordedKeys)).size).toBe(Object.keys(recordedKeys).length);
  expect(deriveKey(root, "project-secret").id).toBe("DNoD-0N5");
});

test("KEY-2 a sealed text opens with its key and context only, and not when anything of it was changed", () => {
  const key = deriveKey(root, "project-secret");
  const sealed = seal(key, "sunny ✓", "here");
  expect(sealed).not.toContain(Buffer.from("sunny").toString("base64url"));
  expect(open(key, sealed, "here")).toBe("sunny ✓");
  expect(seal(key, "sunny ✓", "here")).not.toBe(sealed);
  expect(open(key, seal(key, "", "here"), "here")).toBe("");
  expect(() => open(key, sealed, "there")).toThrow();
  expect(() => open(deriveKey(root, "session-secret"), sealed, "here")).toThrow();
  const [nonce = "", ciphertext = "", tag = ""] = sealed.split(".");
  const flipped = (part: string) => (part.startsWith("A") ? "B" : "A") + part.slice(1);
  for (const changed of [
    [flipped(nonce), ciphertext, tag],
    [nonce, flipped(ciphertext), tag],
    [nonce, ciphertext, flipped(tag)],
    [nonce, ciphertext, tag.slice(0, 6)],
    [nonce, ciphertext],
    [nonce, ciphertext, tag, ""],
    [""],
  ]) {
    expect(() => open(key, changed.join("."), "here")).toThrow();
  }
});

test("KEY-2 a text that was sealed with another key is refused as such", () => {
  const key = deriveKey(root, "project-secret");
  const sealed = sealWithKeyId(key, "text", "here");
  expect(sealed.startsWith(`${key.id}.`)).toBe(true);
  expect(openWithKeyId(key, sealed, "here")).toBe("text");
  const other = deriveKey("another root secret for tests, 32 characters", "project-secret");
  expect(() => openWithKeyId(other, sealed, "here")).toThrow("another key");
  expect(() => openWithKeyId(key, "", "here")).toThrow("another key");
});

test("digests, MACs and comparisons agree with their standards", () => {
  expect(sha256("abc", "hex")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  expect(hmacSha256("Jefe", "what do ya want for nothing?", "hex")).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
  expect(equalInConstantTime("token", "token")).toBe(true);
  for (const other of ["", "toke", "token ", "Token"]) expect(equalInConstantTime("token", other)).toBe(false);
  expect(randomToken()).toMatch(/^[\w-]{43}$/);
  expect(randomToken()).not.toBe(randomToken());
});

test("SRC-2 KEY-2 a deploy key is one that OpenSSH reads, and has the public part that is shown", async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-ssh-key-"));
  try {
    for (const comment of ["towpath-acme", "towpath-a-longer-one"]) {
      const { publicKey, privateKey } = createSshKey(comment);
      const file = join(directory, comment);
      await writeFile(file, privateKey, { mode: 0o600 });
      const { stdout } = await promisify(execFile)("ssh-keygen", ["-y", "-f", file]);
      expect(stdout.trim()).toBe(publicKey);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
