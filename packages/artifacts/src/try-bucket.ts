import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BucketConfig } from "./config.ts";
import { s3Blobs } from "./s3-blobs.ts";

/**
 * Stores, finds and deletes a small object, as a worker does.
 *
 * @throws ArtifactError `unavailable` when the service doesn't answer, has no such bucket or refuses the key
 */
export async function tryBucket(config: BucketConfig): Promise<void> {
  const blobs = s3Blobs(config);
  const directory = await mkdtemp(join(tmpdir(), "towpath-bucket-"));
  try {
    const bytes = randomBytes(32);
    const digest = createHash("sha256").update(bytes).digest("hex");
    const file = join(directory, "object");
    await writeFile(file, bytes);
    await blobs.put(digest, file);
    await blobs.delete(digest);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
