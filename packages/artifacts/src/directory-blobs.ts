import { createReadStream } from "node:fs";
import { access, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncPath } from "@towpath/runtime/sync-path";
import { type BlobStore, digestSchema, notStored } from "./port.ts";

/** Bytes of artifacts as files `<digest>` of a directory, into which they are renamed from the same file system. */
export function directoryBlobs(directory: string): BlobStore {
  const path = (digest: string) => join(directory, digestSchema.parse(digest));
  return {
    // An existing file is replaced by the same bytes.
    async put(digest, file) {
      const target = path(digest);
      await mkdir(directory, { recursive: true });
      await syncPath(file);
      await rename(file, target);
      // A renamed file survives a power failure only if its directory was synced too.
      await syncPath(directory);
    },

    async get(digest) {
      const file = await open(path(digest)).catch((error: unknown) => {
        throw isMissing(error) ? notStored(digest, error) : error;
      });
      return createReadStream("", { fd: file });
    },

    has: (digest) =>
      access(path(digest)).then(
        () => true,
        (error) => {
          if (!isMissing(error)) throw error;
          return false;
        },
      ),

    delete: (digest) => rm(path(digest), { force: true }),

    async *list() {
      const names = await readdir(directory).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
        return [];
      });
      yield* names.filter((name) => digestSchema.safeParse(name).success);
    },
  };
}

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT";
