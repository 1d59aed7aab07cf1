import { text } from "node:stream/consumers";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { type ArchiveEntry, type ArchiveLimits, tooLargeArchive, unusable } from "./archive-entry.ts";

/** Upper half of "version made by" (PKWARE's APPNOTE 6.3, 4.4.2): attributes are those of Unix. */
const unix = 3;
const fileTypes = { link: 0o120000, directory: 0o040000, file: 0o100000 };
const maxTargetBytes = 4096;

/** @throws TowpathError `invalid_input`; Error for what `yauzl` can't read */
export async function* zipEntries(file: string, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  // Names stay bytes: `entryPath` refuses those that no file can have, and says why.
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false, decodeStrings: false });
  try {
    if (zip.entryCount > limits.files)
      throw unusable(`The archive has more than ${limits.files} entries, the limit here.`);
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(entry);
    if (entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > limits.bytes)
      throw tooLargeArchive(limits.bytes, "Its files are");
    for (const entry of entries) yield await archiveEntry(zip, entry);
  } finally {
    zip.close();
  }
}

async function archiveEntry(zip: ZipFile, entry: Entry): Promise<ArchiveEntry> {
  if (entry.isEncrypted()) throw unusable("The zip is encrypted. Make one without a password.");
  const name = entry.fileNameRaw.toString("utf8");
  const mode = entry.versionMadeBy >>> 8 === unix ? entry.externalFileAttributes >>> 16 : 0;
  const type = mode & 0o170000;
  const isDirectory = name.endsWith("/") || type === fileTypes.directory;
  const isFile = type === fileTypes.file || type === 0;
  const kind = isDirectory ? "directory" : type === fileTypes.link ? "link" : isFile ? "file" : "other";
  const size = entry.uncompressedSize;
  if (kind === "link" && size > maxTargetBytes) throw new Error("the target of a link is too long");
  const content = contentOf(zip, entry);
  const target = kind === "link" ? await text(content) : "";
  return { name, kind, isExecutable: (mode & 0o100) !== 0, size, target, content };
}

/** What is longer or shorter than the directory says is damaged, or a bomb: yauzl throws. */
async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  if (!entry.canDecodeFileData())
    throw unusable("The zip is compressed in an unusual way. Make it again, or a .tar.gz.");
  yield* await zip.openReadStreamPromise(entry);
}
