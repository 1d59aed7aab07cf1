import { z } from "zod";

/** Lower-case hex SHA-256 of an artifact's bytes as they are stored. It names the artifact. */
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * Storage for the bytes of artifacts: a directory, or a bucket of an S3-compatible service. Each implementation passes
 * `artifactStoreContract`. Knows no database: uses of artifacts are the store's concern.
 */
export type BlobStore = {
  /**
   * Stores a file, whose digest was checked. Atomic, even if the process is killed; concurrent calls with the same digest
   * are allowed. May move the file.
   */
  put(digest: string, file: string): Promise<void>;
  /** @throws ArtifactError `not_found` */
  get(digest: string): Promise<AsyncIterable<Uint8Array>>;
  has(digest: string): Promise<boolean>;
  /** Readers that have begun read to the end. Nothing happens if there is none. */
  delete(digest: string): Promise<void>;
  /** Digests of all complete ones, in any order. */
  list(): AsyncIterable<string>;
  /** Ends uploads that killed processes left, begun before a time, and resolves to their number. Absent: there are none. */
  readonly abortUnfinished?: (before: Date) => Promise<number>;
  /** Absent where only this host reaches the bytes. */
  readonly addresses?: BlobAddresses;
};

/** Addresses for those who have no key of the service. Each is valid for a while, for one blob and one method. */
type BlobAddresses = {
  get(digest: string, validMs: number): Promise<string>;
  /** The service refuses bytes with another digest. */
  put(digest: string, validMs: number): Promise<UploadAddress>;
};

/** Where to PUT bytes, with exactly these headers and their length. */
export type UploadAddress = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/**
 * Stores the layers of builds and the bundles of repositories, each named by the SHA-256 of its bytes. All hosts of the
 * platform share one store: bytes in a `BlobStore`, times of use and tags in the database (decision 059).
 *
 * **Deleting.** To delete what nothing needs, ask which artifacts are `unusedSince` a time further back than the longest
 * build, then read which digests are referred to, and `delete` the rest: a build `add`s or `resolve`s its layers before its
 * row refers to them.
 */
export type ArtifactStore = {
  /**
   * Stores bytes. Resolves to their digest; the artifact then counts as used. When `bytes` throws, nothing is stored.
   * @throws what `bytes` throws; ArtifactError `unavailable`
   */
  add(bytes: AsyncIterable<Uint8Array>): Promise<string>;
  /**
   * The stored bytes, which end with an ArtifactError `digest_mismatch` if they are damaged. Needs no database.
   * @throws ArtifactError `not_found`, `unavailable`
   */
  get(digest: string): Promise<AsyncIterable<Uint8Array>>;
  has(digest: string): Promise<boolean>;
  /**
   * An address from which others get the stored bytes for `validMs`, without a check of their digest.
   * @throws ArtifactError `not_found`, `unavailable`
   */
  address(digest: string, validMs: number): Promise<string>;
  /**
   * Stores bytes that `upload` has sent to an address, which is valid for `validMs`, and checks them by reading them. The
   * artifact then counts as used. `upload` is not called if they are stored already.
   * @throws what `upload` throws; ArtifactError `digest_mismatch` (nothing stays stored), `not_found`, `unavailable`
   */
  receive(digest: string, validMs: number, upload: (address: UploadAddress) => Promise<void>): Promise<void>;
  /** The artifacts among these whose bytes are not stored, found by one listing of the whole store. */
  missing(digests: Iterable<string>): Promise<ReadonlySet<string>>;
  /** Artifacts that no `add`, `tag` or `resolve` has used since. Reading doesn't count. */
  unusedSince(time: Date): Promise<readonly string[]>;
  /**
   * Deletes an artifact and its tags unless it was used since. Resolves to whether it is gone. Safe to repeat after a
   * kill, and concurrently with `add` and `resolve` of the same artifact.
   */
  delete(digest: string, options: { readonly unusedSince: Date }): Promise<boolean>;
  /**
   * Gives an artifact another name, for example the hash of its inputs. A tag belongs to the first artifact that got
   * it, for as long as that exists. An artifact may have several tags.
   * @param name lower-case hex SHA-256
   * @returns the digest of the tag's artifact: another one if the tag was taken
   * @throws ArtifactError `not_found`
   */
  tag(name: string, digest: string): Promise<string>;
  /** The digest of a tag's artifact, which then counts as used; null if there is none. */
  resolve(name: string): Promise<string | null>;
  /**
   * Removes partial files of this host that killed processes left longer ago than this, and uploads that they left a day
   * ago. Resolves to their number.
   */
  removeIncomplete(olderThanMs: number): Promise<number>;
};

export class ArtifactError extends Error {
  override readonly name = "ArtifactError";
  /**
   * `not_found`: not stored. `digest_mismatch`: the bytes are damaged. `too_large`: a directory exceeds the limit.
   * `archive_failed`: a directory could not be packed or unpacked. `unavailable`: the service that has the bytes could
   * not be reached or refused the request.
   */
  readonly code: "not_found" | "digest_mismatch" | "too_large" | "archive_failed" | "unavailable";

  constructor(code: ArtifactError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const notStored = (digest: string, cause?: unknown) =>
  new ArtifactError("not_found", `There is no artifact ${digest}.`, { cause });
