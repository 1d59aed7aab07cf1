import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  link,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { ArtifactError, type ArtifactStore, digestSchema } from "./port.ts";

/**
 * An artifact store in a directory of this host:
 *
 *     blobs/<digest>           the bytes; its modification time is the last use
 *     tags/<name>              the digest that a tag leads to
 *     tagged/<digest>/<name>   the tags of an artifact, so that deleting it finds them
 *     incoming/                what is being written or deleted
 */
export function createDirectoryStore(root: string): ArtifactStore {
  const blob = (digest: string) => join(root, "blobs", digestSchema.parse(digest));
  const tagFile = (name: string) => join(root, "tags", digestSchema.parse(name));
  const tagsOf = (digest: string) => join(root, "tagged", digestSchema.parse(digest));
  const incoming = () => join(root, "incoming", randomUUID());

  /** Writes a file that is complete when it gets the name that `place` gives for its digest, which this resolves to. */
  async function receive(bytes: AsyncIterable<Uint8Array>, place: (digest: string) => string) {
    const partial = incoming();
    await mkdir(join(root, "incoming"), { recursive: true });
    let digest = "";
    try {
      digest = await write(partial, bytes);
      const target = place(digest);
      await mkdir(join(root, "blobs"), { recursive: true });
      await rename(partial, target);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    await syncDirectory(join(root, "blobs"));
    return digest;
  }

  const store: ArtifactStore = {
    async put(digest, bytes) {
      const target = blob(digest);
      if (await touch(target)) {
        bytes.destroy();
        return;
      }
      await receive(bytes, (found) => {
        if (found === digest) return target;
        throw new ArtifactError("digest_mismatch", `The bytes for artifact ${digest} have the digest ${found}.`);
      });
    },

    // One that exists is replaced by the same bytes, and counts as used.
    add: (bytes) => receive(bytes, blob),

    async get(digest) {
      const file = await open(blob(digest)).catch(notFound(digest));
      return createReadStream("", { fd: file });
    },

    has: async (digest) => (await statOrNull(blob(digest))) !== null,

    async delete(digest, { unusedSince }) {
      const path = blob(digest);
      const found = await statOrNull(path);
      if (found !== null && found.mtime > unusedSince) return false;
      // Move it away first: the check below sees a use since the check above, and later callers don't find it.
      const doomed = incoming();
      await mkdir(join(root, "incoming"), { recursive: true });
      if (found !== null && !(await moved(path, doomed))) return true;
      if (found !== null && (await stat(doomed)).mtime > unusedSince) {
        await rename(doomed, path);
        return false;
      }
      for (const name of await readdir(tagsOf(digest)).catch(() => []))
        if ((await readTag(tagFile(name))) === digest) await rm(tagFile(name), { force: true });
      await rm(tagsOf(digest), { recursive: true, force: true });
      await rm(doomed, { force: true });
      return true;
    },

    async *list() {
      for (const digest of await readdir(join(root, "blobs")).catch(() => [])) {
        const found = await statOrNull(join(root, "blobs", digest));
        if (found !== null && digestSchema.safeParse(digest).success)
          yield { digest, bytes: found.size, lastUsedAt: found.mtime };
      }
    },

    async tag(name, digest) {
      if (!(await touch(blob(digest)))) throw new ArtifactError("not_found", `There is no artifact ${digest}.`);
      await mkdir(tagsOf(digest), { recursive: true });
      await writeFile(join(tagsOf(digest), digestSchema.parse(name)), "");
      await mkdir(join(root, "tags"), { recursive: true });
      await mkdir(join(root, "incoming"), { recursive: true });
      const partial = incoming();
      await writeFile(partial, digest);
      try {
        for (;;) {
          // Unlike a rename, a link never replaces an existing file.
          if (await linked(partial, tagFile(name))) return digest;
          const first = await store.resolve(name);
          if (first !== null) return first;
          await rm(tagFile(name), { force: true });
        }
      } finally {
        await rm(partial, { force: true });
      }
    },

    async resolve(name) {
      const digest = await readTag(tagFile(name));
      if (digest === null) return null;
      return (await touch(blob(digest))) ? digest : null;
    },

    removeIncomplete: (olderThanMs) => removeOld(join(root, "incoming"), Date.now() - olderThanMs),
  };
  return store;
}

/** Writes and syncs a new file. Resolves to its digest. */
async function write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of bytes) {
      hash.update(chunk);
      // Not `write`, which may write only a part, for example on a full disk.
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

/** A renamed file survives a power failure only if its directory was synced too. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  await directory.sync().finally(() => directory.close());
}

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT";

function notFound(digest: string) {
  return (error: unknown): never => {
    if (!isMissing(error)) throw error;
    throw new ArtifactError("not_found", `There is no artifact ${digest}.`, { cause: error });
  };
}

const nullWhenMissing = (error: unknown): null => {
  if (!isMissing(error)) throw error;
  return null;
};

const statOrNull = (path: string) => stat(path).catch(nullWhenMissing);

/** Marks a file as used now; false if it doesn't exist. */
const touch = (path: string): Promise<boolean> =>
  utimes(path, new Date(), new Date()).then(
    () => true,
    (error) => nullWhenMissing(error) ?? false,
  );

const moved = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    (error) => nullWhenMissing(error) ?? false,
  );

/** False if the new name exists. */
const linked = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
      return false;
    },
  );

async function readTag(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch(nullWhenMissing);
  const digest = digestSchema.safeParse(text);
  return digest.success ? digest.data : null;
}

async function removeOld(directory: string, before: number): Promise<number> {
  let removed = 0;
  const entries = await opendir(directory).catch(nullWhenMissing);
  for await (const entry of entries ?? []) {
    const path = join(directory, entry.name);
    const found = await statOrNull(path);
    // The change time: a file that is being deleted keeps its old modification time.
    if (found === null || found.ctimeMs > before) continue;
    await unlink(path).catch(nullWhenMissing);
    removed += 1;
  }
  return removed;
}
