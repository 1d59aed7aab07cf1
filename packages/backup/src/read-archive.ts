import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { decryptFile, type FileIdentity, UnreadableFile } from "@towpath/crypto/file";
import { thisRelease } from "@towpath/db/release";
import { extract, type Header } from "tar-stream";
import {
  anyManifestSchema,
  BackupError,
  type Contents,
  contentsSchema,
  formatVersion,
  kindOfPart,
  type Manifest,
  manifestSchema,
  type PartKind,
} from "./format.ts";

/** One part. Read `bytes`, or leave them, before the next one. */
export type Part = PartKind & { readonly bytes: AsyncIterable<Uint8Array> };

export type OpenArchive = { readonly manifest: Manifest; readonly parts: AsyncIterable<Part> };

type Reading = { readonly file: string; readonly identity: FileIdentity; readonly signal?: AbortSignal | undefined };

/**
 * Opens a back-up. Its parts end with a BackupError unless all of them were as they were written.
 *
 * @throws BackupError for a wrong passphrase or key, another file, a damaged one, and one of a newer release
 */
export async function openArchive(reading: Reading): Promise<OpenArchive> {
  const parts = partsOf(reading);
  const first = await parts.next();
  if (first.done || first.value.name !== "manifest.json") throw damaged(reading.file);
  const manifest = parseManifest(reading.file, await text(first.value.bytes));
  async function* following(): AsyncGenerator<Part> {
    for await (const { name, bytes } of parts) {
      const kind = kindOfPart(name);
      if (kind === null)
        throw new BackupError(`${reading.file} has a part that is none of a back-up's: ${JSON.stringify(name)}.`);
      yield { ...kind, bytes };
    }
  }
  return { manifest, parts: following() };
}

function parseManifest(file: string, json: string): Manifest {
  const value = parseJson(json);
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const any = anyManifestSchema.safeParse(value);
  if (!any.success || any.data.format <= formatVersion) throw damaged(file);
  const by = any.data.database.release ?? "a release that left no name";
  throw new BackupError(
    `${file} was made by a newer release of Towpath, ${by}; this is ${thisRelease()}. Use that release or a newer one.`,
  );
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const damaged = (file: string, cause?: unknown) =>
  new BackupError(`${file} is damaged or incomplete, or no back-up of Towpath. Use another copy of it.`, { cause });

const notOpened = (file: string, identity: FileIdentity, cause: unknown) =>
  new BackupError(
    "passphrase" in identity
      ? `This passphrase does not open ${file}. If it was made with a public key, name the private key's file with --identity.`
      : `These keys do not open ${file}. If it was made with a passphrase, leave out --identity.`,
    { cause },
  );

type NamedPart = { readonly name: string; readonly bytes: AsyncIterable<Uint8Array> };

/** The type that tar-stream yields but doesn't export. */
type Entry = AsyncIterable<Uint8Array> & { readonly header: Header };

/** All parts but `contents.json`, with which they are compared. */
async function* partsOf({ file, identity, signal }: Reading): AsyncGenerator<NamedPart, void> {
  const found: Contents = [];
  let listed: Contents | null = null;
  for await (const { name, bytes } of joined(entriesOf({ file, identity, signal }))) {
    if (listed !== null) throw damaged(file);
    if (name === "contents.json") {
      listed = contentsSchema.safeParse(parseJson(await text(bytes))).data ?? [];
      continue;
    }
    const hash = createHash("sha256");
    let size = 0;
    async function* counted() {
      for await (const chunk of bytes) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    }
    const reading = counted();
    yield { name, bytes: reading };
    // What its reader has left.
    for await (const _ of reading);
    found.push({ name, bytes: size, sha256: hash.digest("hex") });
  }
  if (JSON.stringify(found) !== JSON.stringify(listed)) throw damaged(file);
}

function fileErrorIn(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  return "syscall" in error ? error : fileErrorIn(error.cause);
}

/** The decrypted archive's entries. @throws BackupError */
async function* entriesOf({ file, identity, signal }: Reading): AsyncGenerator<Entry> {
  const untar = extract();
  const source = createReadStream(file);
  try {
    const decrypted = await decryptFile(source, identity);
    const fed = pipeline(decrypted, createZstdDecompress(), untar, { signal });
    fed.catch(() => {});
    yield* untar as AsyncIterable<Entry>;
    await fed;
  } catch (error) {
    signal?.throwIfAborted();
    const unreadable = fileErrorIn(error);
    if (unreadable !== null) throw new BackupError(`${file} can't be read. ${unreadable.message}.`, { cause: error });
    if (error instanceof UnreadableFile && error.code === "wrong_key") throw notOpened(file, identity, error);
    throw damaged(file, error);
  } finally {
    source.destroy();
  }
}

/** Puts the chunks of each part together. */
async function* joined(entries: AsyncGenerator<Entry>): AsyncGenerator<NamedPart> {
  let next = await entries.next();
  while (!next.done) {
    const name = partOf(next.value);
    async function* chunks() {
      while (!next.done && partOf(next.value) === name) {
        yield* next.value;
        next = await entries.next();
      }
    }
    const bytes = chunks();
    yield { name, bytes };
    for await (const _ of bytes);
  }
}

const partOf = ({ header: { name } }: Entry) => name.replace(/\.\d{6}$/, "");
