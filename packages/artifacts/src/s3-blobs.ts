import { openBucket } from "./bucket.ts";
import type { BucketConfig } from "./config.ts";
import { type BlobStore, digestSchema, notStored } from "./port.ts";

/** Bytes of artifacts as objects `<prefix><digest>` of a bucket. */
export function s3Blobs(config: BucketConfig): BlobStore {
  const bucket = openBucket(config, "artifact store");
  const keyOf = (digest: string) => digestSchema.parse(digest);
  const has = (digest: string) => bucket.has(keyOf(digest));
  return {
    has,
    async put(digest, file) {
      if (!(await has(digest))) await bucket.put(keyOf(digest), file, digest);
    },
    async get(digest) {
      const bytes = await bucket.get(keyOf(digest));
      if (bytes === null) throw notStored(digest);
      return bytes;
    },
    delete: (digest) => bucket.delete(keyOf(digest)),
    addresses: {
      get: async (digest, validMs) => (await bucket.sign("GET", keyOf(digest), validMs)).url,
      // Not `x-amz-content-sha256`, which not every service reads in presigned requests.
      put: (digest, validMs) =>
        bucket.sign("PUT", keyOf(digest), validMs, { "x-amz-checksum-sha256": base64Of(digest) }),
    },
    abortUnfinished: (before) => bucket.abortUnfinished(before, (key) => digestSchema.safeParse(key).success),
    async *list() {
      for await (const key of bucket.list()) if (digestSchema.safeParse(key).success) yield key;
    },
  };
}

const base64Of = (digest: string) => Buffer.from(digest, "hex").toString("base64");
