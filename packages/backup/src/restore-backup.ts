import { execFile } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { restoreArtifact } from "@towpath/artifacts";
import type { FileIdentity } from "@towpath/crypto/file";
import { beginLoad, type DatabaseLoad } from "@towpath/db/copy";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { restoreRepository } from "@towpath/git";
import { type DataCopies, openRestoredData } from "@towpath/runtime";
import { syncPath } from "@towpath/runtime/sync-path";
import { BackupError, type InstanceFile, instanceFiles, repositorySchema } from "./format.ts";
import { openArchive, type Part } from "./read-archive.ts";
import type { VerifiedBackup } from "./verify-backup.ts";

type RestoreTarget = {
  /** Empty, or absent. */
  readonly dataDirectory: string;
  /** An empty database, past a pooler; null: the embedded one, in the data directory. */
  readonly databaseUrl: string | null;
};

type Options = {
  readonly file: string;
  readonly identity: FileIdentity;
  readonly verified: VerifiedBackup;
  readonly target: RestoreTarget;
  readonly signal: AbortSignal;
};

/** In the data directory, so that it works where that is a mount point. Who makes it restores; `up` refuses it. */
const staging = "restoring";

/**
 * Restores a verified back-up. The target must be empty; until all is there, it has nothing that looks like an instance,
 * and after a failure it is empty again. `instance.json` comes last.
 *
 * @throws BackupError, LoadRefused
 */
export async function restoreBackup(options: Options): Promise<void> {
  const { dataDirectory } = options.target;
  await requireEmpty(dataDirectory);
  const made = await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const staged = join(dataDirectory, staging);
  await mkdir(staged, { mode: 0o700 }).catch((error: unknown) => {
    throw error instanceof Error && "code" in error && error.code === "EEXIST" ? beingRestored(dataDirectory) : error;
  });
  try {
    await requireRoom(staged, options);
    await fill(staged, options);
    await moveIntoPlace(staged, dataDirectory);
  } catch (error) {
    await rm(staged, { recursive: true, force: true, maxRetries: 3 });
    if (made !== undefined) await rmdir(dataDirectory).catch(() => {});
    throw asRestoreProblem(error);
  }
}

const beingRestored = (directory: string) =>
  new BackupError(
    `Another restore into ${directory} is under way, or one was killed. If none is, remove ${join(directory, staging)} and try again.`,
  );

function asRestoreProblem(error: unknown): unknown {
  const isFull = (each: unknown) =>
    each instanceof Error &&
    (("code" in each && each.code === "ENOSPC") || /No space left on device/.test(each.message));
  if (!isFull(error)) return error;
  return new BackupError("The disk is full. What was restored has been removed again.", { cause: error });
}

async function requireEmpty(directory: string): Promise<void> {
  const names = existsSync(directory) ? await readdir(directory) : [];
  if (names.includes(staging)) throw beingRestored(directory);
  if (names.length > 0)
    throw new BackupError(
      `${directory} is not empty (it has ${names.slice(0, 3).join(", ")}). Nothing was changed. Restore into a new directory: --data-dir.`,
    );
}

/** A new database cluster, and PostgreSQL's log of changes while rows are loaded. */
const clusterBytes = 150 * 1024 ** 2;

async function requireRoom(directory: string, { verified, target }: Options): Promise<void> {
  const { bytes, manifest } = verified;
  const files = bytes.file + bytes.repository + 2 * bytes.bundle + bytes.data + bytes.layer;
  const needed = files + (target.databaseUrl === null ? clusterBytes + 2 * manifest.database.bytes : 0);
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= needed) return;
  const inMegabytes = (size: number) => `${Math.ceil(size / 1024 ** 2).toLocaleString("en")} MB`;
  throw new BackupError(
    `The disk of ${dirname(directory)} has ${inMegabytes(bavail * bsize)} left, and the restored instance needs ${inMegabytes(needed)}. ` +
      "Nothing was restored. Make room, or name a directory on another disk: --data-dir.",
  );
}

async function fill(staged: string, options: Options): Promise<void> {
  if (options.target.databaseUrl !== null) return fillWith(options.target.databaseUrl, staged, options);
  // Short, for the socket.
  const socketDirectory = await mkdtemp(join(tmpdir(), "tp-restore-"));
  try {
    const postgres = await startEmbeddedPostgres({
      dataDirectory: join(staged, "postgres"),
      socketDirectory,
      durable: true,
    });
    try {
      await fillWith(postgres.url, staged, options);
    } finally {
      await postgres.stop();
    }
  } finally {
    await rm(socketDirectory, { recursive: true, force: true });
  }
}

async function fillWith(databaseUrl: string, staged: string, { file, identity, signal }: Options): Promise<void> {
  const { manifest, parts } = await openArchive({ file, identity, signal });
  const load = await beginLoad(databaseUrl, manifest.database);
  try {
    const data = openRestoredData(staged);
    await restoreParts(parts, { staged, load, data });
    await promisify(execFile)("sync", ["--file-system", staged]);
    await load.commit();
  } finally {
    await load.close();
  }
}

type Places = { readonly staged: string; readonly load: DatabaseLoad; readonly data: DataCopies };

async function restoreParts(parts: AsyncIterable<Part>, { staged, load, data }: Places): Promise<void> {
  let repository: Parameters<typeof restoreRepository>[1] | null = null;
  const parent = join(staged, "repositories");
  for await (const part of parts) {
    if (part.kind === "file") await writeNew(join(staged, instanceFiles[part.file]), part.bytes);
    else if (part.kind === "table") await load.table(part.table, part.bytes);
    else if (part.kind === "data") await data.write(part.id, part.bytes);
    else if (part.kind === "layer") await restoreArtifact(staged, part.digest, part.bytes);
    else if (part.kind === "repository") {
      repository = { id: part.id, ...repositorySchema.parse(JSON.parse(await text(part.bytes))), bundle: null };
      await restoreRepository(parent, repository);
    } else {
      if (repository?.id !== part.id) throw new BackupError(`The refs of the repository ${part.id} are missing.`);
      const bundle = join(staged, "bundle");
      await writeNew(bundle, part.bytes);
      await restoreRepository(parent, { ...repository, bundle });
      await rm(bundle);
    }
  }
}

async function writeNew(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(bytes, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
}

async function moveIntoPlace(staged: string, directory: string): Promise<void> {
  const last: InstanceFile = "instance.json";
  const names = (await readdir(staged)).filter((name) => name !== last);
  // Before it looks like an instance.
  await promisify(execFile)("sync", ["--file-system", staged]);
  try {
    for (const name of [...names, last]) await rename(join(staged, name), join(directory, name));
  } catch (error) {
    for (const name of names) await rm(join(directory, name), { recursive: true, force: true });
    throw error;
  }
  await rmdir(staged);
  await syncPath(directory);
}
