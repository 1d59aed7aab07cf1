import type { Readable } from "node:stream";
import { z } from "zod";

/** Lower-case hex SHA-256 of an artifact's bytes as they are stored. It names the artifact. */
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

export type ArtifactInfo = {
  readonly digest: string;
  /** Size as stored (layers are compressed). */
  readonly bytes: number;
  /** The last `put`, `add`, `tag` or `resolve` of it. Reading doesn't count: see `delete`. */
  readonly lastUsedAt: Date;
};

/**
 * Stores the layers of builds, each named by the SHA-256 of its bytes. All hosts of the platform share one store.
 * Implementations: a directory; later an S3-compatible store. Each passes `artifactStoreContract`.
 *
 * **Deleting.** Only the database knows which artifacts are needed. To delete the others, list the store, then read
 * which digests builds refer to, and call `delete` for the rest with an `unusedSince` further back than the longest
 * build: a build `put`s or `resolve`s its layers before its row refers to them.
 */
export type ArtifactStore = {
  /**
   * Stores bytes under their digest. Atomic, even if the process is killed. Concurrent calls with the same digest are
   * allowed. An existing artifact stays and counts as used.
   * @throws ArtifactError `digest_mismatch` when the bytes don't have this digest; nothing is stored then
   */
  put(digest: string, bytes: Readable): Promise<void>;
  /** Like `put`, for bytes that are being made: resolves to their digest. When `bytes` throws, nothing is stored. */
  add(bytes: AsyncIterable<Uint8Array>): Promise<string>;
  /**
   * The stored bytes. The caller must verify the digest before using them (see `createLayerCache`).
   * @throws ArtifactError `not_found`
   */
  get(digest: string): Promise<Readable>;
  has(digest: string): Promise<boolean>;
  /**
   * Deletes an artifact and its tags unless it was used since. Resolves to whether it is gone. Safe to repeat after a
   * kill, and concurrently with `put` and `resolve` of the same artifact.
   */
  delete(digest: string, options: { readonly unusedSince: Date }): Promise<boolean>;
  /** All complete artifacts, in any order. */
  list(): AsyncIterable<ArtifactInfo>;
  /**
   * Gives an artifact another name, for example the hash of its inputs. A tag belongs to the first artifact that got
   * it, for as long as that exists. An artifact may have several tags.
   * @param name lower-case hex SHA-256
   * @returns the digest of the tag's artifact: another one if the tag was taken
   */
  tag(name: string, digest: string): Promise<string>;
  /** The digest of a tag's artifact, which then counts as used; null if there is none. */
  resolve(name: string): Promise<string | null>;
  /** Removes partial files that killed processes left longer ago than this. Resolves to their number. */
  removeIncomplete(olderThanMs: number): Promise<number>;
};

export class ArtifactError extends Error {
  override readonly name = "ArtifactError";
  /**
   * `not_found`: not stored. `digest_mismatch`: the bytes are damaged. `too_large`: a directory exceeds the limit.
   * `archive_failed`: a directory could not be packed or unpacked.
   */
  readonly code: "not_found" | "digest_mismatch" | "too_large" | "archive_failed";

  constructor(code: ArtifactError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
