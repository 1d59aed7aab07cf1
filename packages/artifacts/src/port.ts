import type { Readable } from "node:stream";
import { z } from "zod";

/** Lower-case hex SHA-256 of an artifact's bytes as they are stored. It names the artifact. */
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

export type ArtifactInfo = {
  readonly digest: string;
  /** Size as stored (layers are compressed). */
  readonly bytes: number;
  /** The last `put`, `tag` or `resolve` of it. Reading doesn't count: see `delete`. */
  readonly lastUsedAt: Date;
};

/**
 * Where builds leave their layers: bytes named by their SHA-256. All instances of the platform share one store.
 * Implementations: a folder; later an S3-compatible store. Every one passes `artifactStoreContract`.
 *
 * **Deleting.** The store doesn't know which artifacts are needed; the database does. Whoever deletes first lists the
 * store, then reads which digests builds refer to, and calls `delete` with the rest and an `unusedSince` further back
 * than the longest build takes: a build `put`s or `resolve`s its layers before its row refers to them.
 */
export type ArtifactStore = {
  /**
   * Stores bytes under their digest. Atomic: the artifact is there as a whole or not at all, also when the process is
   * killed. Concurrent calls with the same digest are fine. An artifact that is already there stays and counts as used.
   * @throws ArtifactError `digest_mismatch` when the bytes don't have this digest; nothing is stored then
   */
  put(digest: string, bytes: Readable): Promise<void>;
  /**
   * The stored bytes. Not checked by the store: they come over a network or from a disk, and whoever receives them
   * compares the digest before using them (see `createLayerCache`).
   * @throws ArtifactError `not_found`
   */
  get(digest: string): Promise<Readable>;
  has(digest: string): Promise<boolean>;
  /**
   * Deletes an artifact and its tags, unless it was used since. Resolves to whether it is gone. Safe to call again
   * after a kill in the middle, and together with `put` and `resolve` of the same artifact.
   */
  delete(digest: string, options: { readonly unusedSince: Date }): Promise<boolean>;
  /** All whole artifacts, in no order. */
  list(): AsyncIterable<ArtifactInfo>;
  /**
   * Gives an artifact a further name, for example the hash of what it was made of. A tag leads to one artifact: the
   * first that got it, for as long as that exists. An artifact may have several tags.
   * @param name lower-case hex SHA-256
   * @returns the digest that the tag leads to: another one when somebody was faster
   */
  tag(name: string, digest: string): Promise<string>;
  /** The digest behind a tag, and counts its artifact as used; null when there is none or it was deleted. */
  resolve(name: string): Promise<string | null>;
  /** Removes what killed processes left half-written longer ago than this. Resolves to how many files. */
  removeIncomplete(olderThanMs: number): Promise<number>;
};

export class ArtifactError extends Error {
  override readonly name = "ArtifactError";
  /**
   * `not_found`: not stored. `digest_mismatch`: the bytes were altered or cut. `too_large`: a folder is larger than
   * allowed. `archive_failed`: a folder could not be packed or unpacked.
   */
  readonly code: "not_found" | "digest_mismatch" | "too_large" | "archive_failed";

  constructor(code: ArtifactError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
