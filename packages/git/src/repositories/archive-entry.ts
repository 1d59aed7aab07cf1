import { TowpathError } from "@towpath/core/errors";

/** Sizes in bytes. */
export type ArchiveLimits = {
  /** Size of the compressed archive. */
  readonly packedBytes: number;
  /** Of its files. */
  readonly bytes: number;
  readonly files: number;
};

export const defaultArchiveLimits: ArchiveLimits = {
  packedBytes: 256 * 1024 * 1024,
  bytes: 1024 ** 3,
  files: 50_000,
};

/** An entry of an archive. Read `content` to its end, or not at all, before asking for the next entry. */
export type ArchiveEntry = {
  /** As the archive has it. */
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "same-file" | "other";
  readonly isExecutable: boolean;
  readonly size: number;
  /** Of a link: where it leads. Of `same-file`: the name of an earlier entry. */
  readonly target: string;
  readonly content: AsyncIterable<Uint8Array>;
};

export const unusable = (message: string, cause?: unknown) =>
  new TowpathError("invalid_input", message, { fields: { archive: message }, cause });

const megabytes = (bytes: number) => `${Math.max(1, Math.round(bytes / 1024 / 1024))} MB`;

export const tooLargeArchive = (bytes: number, what: string) =>
  unusable(`${what} larger than ${megabytes(bytes)}, the limit here. Leave out large files such as data and models.`);
