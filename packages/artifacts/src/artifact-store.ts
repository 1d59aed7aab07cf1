import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "@towpath/db";
import { artifact, artifactTag } from "@towpath/db/schema";
import { and, eq, lte, sql } from "drizzle-orm";
import { ArtifactError, type ArtifactStore, type BlobStore, digestSchema, notStored } from "./port.ts";

const longestUploadMs = 24 * 3_600_000;

export type ArtifactStoreConfig = {
  readonly db: Database;
  readonly blobs: BlobStore;
  /** A directory of this host for incoming files; if blobs are in a directory, on its file system. */
  readonly incoming: string;
};

/**
 * An artifact's row exists before its bytes and is deleted with them. Its lock decides between storing or resolving an
 * artifact and deleting it: the row is first marked as used, and deletion, for unused rows only, happens in a
 * transaction that ends once the bytes are gone. So the second party finds either both or none.
 */
export function createArtifactStore({ db, blobs, incoming }: ArtifactStoreConfig): ArtifactStore {
  const touch = (digest: string) =>
    db
      .insert(artifact)
      .values({ digest })
      .onConflictDoUpdate({ target: artifact.digest, set: { lastUsedAt: sql`now()` } });

  const store: ArtifactStore = {
    async add(bytes) {
      await mkdir(incoming, { recursive: true });
      const file = join(incoming, randomUUID());
      try {
        const digest = await writeNew(file, bytes);
        await touch(digest);
        await blobs.put(digest, file);
        return digest;
      } finally {
        await rm(file, { force: true });
      }
    },

    get: async (digest) => verified(digest, await blobs.get(digest)),

    has: blobs.has,

    async address(digest, validMs) {
      const { addresses } = blobs;
      if (addresses === undefined) throw withoutAddresses();
      if (!(await blobs.has(digest))) throw notStored(digest);
      return addresses.get(digest, validMs);
    },

    async receive(digest, validMs, upload) {
      const { addresses } = blobs;
      if (addresses === undefined) throw withoutAddresses();
      await touch(digestSchema.parse(digest));
      if (await blobs.has(digest)) return;
      await upload(await addresses.put(digest, validMs));
      try {
        for await (const _ of verified(digest, await blobs.get(digest)));
      } catch (error) {
        if (error instanceof ArtifactError && error.code === "digest_mismatch") await blobs.delete(digest);
        throw error;
      }
    },

    async missing(digests) {
      const missing = new Set(digests);
      for await (const digest of blobs.list()) missing.delete(digest);
      return missing;
    },

    async unusedSince(time) {
      const rows = await db.select({ digest: artifact.digest }).from(artifact).where(lte(artifact.lastUsedAt, time));
      return rows.map(({ digest }) => digest);
    },

    delete: (digest, { unusedSince }) =>
      db.transaction(async (tx) => {
        const unused = and(eq(artifact.digest, digest), lte(artifact.lastUsedAt, unusedSince));
        const deleted = await tx.delete(artifact).where(unused);
        // Without a row there are no bytes, or those of an `add` that has just begun.
        if (deleted.rowCount === 0) return (await tx.$count(artifact, eq(artifact.digest, digest))) === 0;
        await blobs.delete(digest);
        return true;
      }),

    async tag(name, digest) {
      const earlier = await store.resolve(name);
      if (earlier !== null) return earlier;
      await touch(digest);
      await db.insert(artifactTag).values({ name, digest }).onConflictDoNothing();
      const first = await store.resolve(name);
      if (first === null) throw notStored(digest);
      return first;
    },

    async resolve(name) {
      const [used] = await db
        .update(artifact)
        .set({ lastUsedAt: sql`now()` })
        .from(artifactTag)
        .where(and(eq(artifactTag.name, digestSchema.parse(name)), eq(artifact.digest, artifactTag.digest)))
        .returning({ digest: artifact.digest });
      if (used === undefined) return null;
      if (await blobs.has(used.digest)) return used.digest;
      // The bytes were lost: another artifact may get the tag.
      await db.delete(artifactTag).where(and(eq(artifactTag.name, name), eq(artifactTag.digest, used.digest)));
      return null;
    },

    async removeIncomplete(olderThanMs) {
      const removed = await removeOld(incoming, Date.now() - olderThanMs);
      // Other hosts may be uploading.
      const before = new Date(Date.now() - Math.max(olderThanMs, longestUploadMs));
      return removed + ((await blobs.abortUnfinished?.(before)) ?? 0);
    },
  };
  return store;
}

const withoutAddresses = () =>
  new ArtifactError("unavailable", "Artifacts in a directory have no addresses; set TOWPATH_ARTIFACTS to a bucket.");

/** Writes a new file. Resolves to its digest. */
export async function writeNew(path: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of bytes) {
      hash.update(chunk);
      // Not `write`, which may write only a part, for example on a full disk.
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

async function* verified(digest: string, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  const found = hash.digest("hex");
  if (found === digest) return;
  throw new ArtifactError("digest_mismatch", `Artifact ${digest} is damaged in the store: its digest is ${found}.`);
}

async function removeOld(directory: string, before: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found === null || found.mtimeMs > before) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
