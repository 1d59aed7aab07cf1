import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeNew } from "./artifact-store.ts";
import { directoryBlobs } from "./directory-blobs.ts";
import { ArtifactError } from "./port.ts";

/**
 * Stores the bytes of an artifact in a data directory that no instance uses. The worker that starts there registers
 * them, and moves them to a bucket if one is set.
 *
 * @throws ArtifactError `digest_mismatch`
 */
export async function restoreArtifact(
  dataDirectory: string,
  digest: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const root = join(dataDirectory, "artifacts");
  const file = join(root, "incoming", randomUUID());
  await mkdir(join(root, "incoming"), { recursive: true, mode: 0o700 });
  try {
    const found = await writeNew(file, bytes);
    if (found !== digest)
      throw new ArtifactError("digest_mismatch", `Artifact ${digest} is damaged: its digest is ${found}.`);
    await directoryBlobs(join(root, "blobs")).put(digest, file);
  } finally {
    await rm(file, { force: true });
  }
}
