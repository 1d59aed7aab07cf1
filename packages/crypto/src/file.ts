import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { Decrypter, Encrypter } from "age-encryption";

/** Encrypts files for those who have the passphrase, or one of the private keys of these public ones (`age1…`). */
export type FileRecipient = { readonly passphrase: string } | { readonly publicKeys: readonly string[] };

/** Opens such files: the passphrase, or private keys (`AGE-SECRET-KEY-1…`). */
export type FileIdentity = { readonly passphrase: string } | { readonly privateKeys: readonly string[] };

/** `wrong_key`: neither passphrase nor key opens it. `damaged`: it is no encrypted file, or isn't as it was written. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
  readonly code: "wrong_key" | "damaged";

  constructor(code: UnreadableFile["code"], cause: unknown) {
    super(code === "wrong_key" ? "neither passphrase nor key opens it" : "it is damaged or incomplete", { cause });
    this.code = code;
  }
}

/** @throws Error for what is no public key */
function encrypterFor(recipient: FileRecipient): Encrypter {
  const encrypter = new Encrypter();
  if ("passphrase" in recipient) encrypter.setPassphrase(recipient.passphrase);
  else for (const key of recipient.publicKeys) encrypter.addRecipient(key);
  return encrypter;
}

/** Whether files can be encrypted for this text. */
export function isPublicKey(text: string): boolean {
  try {
    encrypterFor({ publicKeys: [text] });
    return true;
  } catch {
    return false;
  }
}

/** Whether this text opens files. */
export function isPrivateKey(text: string): boolean {
  try {
    new Decrypter().addIdentity(text);
    return true;
  } catch {
    return false;
  }
}

/** Encrypts a stream of any size in the age format (age-encryption.org/v1), in constant memory. */
export async function encryptFile(plain: Readable, recipient: FileRecipient): Promise<Readable> {
  const source = Readable.toWeb(plain) as unknown as ReadableStream<Uint8Array>;
  return nodeStream(await encrypterFor(recipient).encrypt(source));
}

/**
 * Opens a stream that `encryptFile` made, or the `age` program. Each chunk of 64 KiB is authenticated before it is
 * passed on, and a missing end is an error.
 *
 * @returns a stream that ends with UnreadableFile `damaged`
 * @throws UnreadableFile
 */
export async function decryptFile(encrypted: Readable, identity: FileIdentity): Promise<AsyncIterable<Uint8Array>> {
  const decrypter = new Decrypter();
  if ("passphrase" in identity) decrypter.addPassphrase(identity.passphrase);
  else for (const key of identity.privateKeys) decrypter.addIdentity(key);
  const source = Readable.toWeb(encrypted) as unknown as ReadableStream<Uint8Array>;
  try {
    return readably(nodeStream(await decrypter.decrypt(source)));
  } catch (error) {
    // The library has no codes.
    const isWrongKey = error instanceof Error && error.message.startsWith("no identity matched");
    throw new UnreadableFile(isWrongKey ? "wrong_key" : "damaged", error);
  }
}

async function* readably(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw new UnreadableFile("damaged", error);
  }
}

const nodeStream = (stream: ReadableStream<Uint8Array>) =>
  Readable.fromWeb(stream as unknown as NodeReadableStream<Uint8Array>);
