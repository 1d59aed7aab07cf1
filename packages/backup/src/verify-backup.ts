import { migrationsOf } from "@towpath/db/copy";
import { BackupError, type Manifest, type PartKind } from "./format.ts";
import { openArchive } from "./read-archive.ts";

export type VerifiedBackup = {
  readonly manifest: Manifest;
  /** Bytes of all parts of a kind, unpacked. */
  readonly bytes: Readonly<Record<PartKind["kind"], number>>;
  readonly count: Readonly<Record<PartKind["kind"], number>>;
};

/**
 * Reads a whole back-up and compares every digest. Writes nothing.
 *
 * @throws BackupError, or NewerSchema: what is wrong, and what to do
 */
export async function verifyBackup(reading: Parameters<typeof openArchive>[0]): Promise<VerifiedBackup> {
  const { manifest, parts } = await openArchive(reading);
  migrationsOf(manifest.database);
  const bytes = { file: 0, table: 0, repository: 0, bundle: 0, data: 0, layer: 0 };
  const count = { ...bytes };
  const files = new Set<string>();
  for await (const part of parts) {
    count[part.kind] += 1;
    if (part.kind === "file") files.add(part.file);
    for await (const chunk of part.bytes) bytes[part.kind] += chunk.length;
  }
  if (!files.has("instance.json"))
    throw new BackupError(`${reading.file} lacks the instance's secret, without which variables can't be read again.`);
  return { manifest, bytes, count };
}
