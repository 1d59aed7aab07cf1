import { createReadStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ArtifactError, artifactsConfigSchema, openArtifacts } from "@towpath/artifacts";
import type { FileRecipient } from "@towpath/crypto/file";
import { openDatabase } from "@towpath/db";
import { type DatabaseSnapshot, openSnapshot } from "@towpath/db/copy";
import { openRepositoryCopies } from "@towpath/git";
import { driverSettings, openDataCopies } from "@towpath/runtime";
import { syncPath } from "@towpath/runtime/sync-path";
import { z } from "zod";
import { BackupError, type Contents, formatVersion, instanceFiles, type Manifest } from "./format.ts";
import { settingsFile } from "./settings-file.ts";
import { type AddPart, writeArchive } from "./write-archive.ts";

/** An instance, running or not. Its database must be running. */
export type BackedUpInstance = {
  readonly databaseUrl: string;
  readonly dataDirectory: string;
  readonly runDirectory: string;
  /** The environment of its processes. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type Options = {
  readonly file: string;
  readonly recipient: FileRecipient;
  /** Also the layers of deployments. Without them, servers are built again after a restore. */
  readonly withLayers: boolean;
  readonly signal: AbortSignal;
};

export type CreatedBackup = { readonly manifest: Manifest; readonly contents: Contents };

/**
 * Writes a back-up to a new file, which appears once it is complete.
 *
 * **Order.** First the database, as of one moment. All that its rows name was stored before that moment, so it is found
 * afterwards, unless it was deleted meanwhile: then the row's owner has deleted it, and the restored instance removes the
 * row's rest as the original one does. Copied the other way round, rows would name commits and layers that were stored
 * too late for the copy.
 *
 * @throws BackupError, NewerSchema
 */
export async function createBackup(instance: BackedUpInstance, options: Options): Promise<CreatedBackup> {
  const { file, recipient } = options;
  if (existsSync(file)) throw new BackupError(`${file} exists. Name another file, or remove it first.`);
  if (!existsSync(join(instance.dataDirectory, "instance.json")) && !instance.environment.TOWPATH_SECRET)
    throw new BackupError(`There is no instance in ${instance.dataDirectory}: it has no instance.json.`);
  const unfinished = `${file}.unfinished`;
  const made: Manifest[] = [];
  try {
    const contents = await writeArchive(unfinished, recipient, options.signal, async (add) => {
      made.push(await addAll(instance, options, add));
    });
    options.signal.throwIfAborted();
    await rename(unfinished, file);
    await syncPath(dirname(file));
    const [manifest] = made;
    if (manifest === undefined) throw new Error("an archive without a manifest");
    return { manifest, contents };
  } catch (error) {
    if (!isTaken(error)) await rm(unfinished, { force: true });
    throw asBackupProblem(error, unfinished);
  }
}

/** What keeps a file, or anything below a directory, from being written is for the operator to change. */
export function asFileProblem(error: unknown, below: string): unknown {
  const isOfIt = error instanceof Error && "path" in error && String(error.path).startsWith(below);
  return isOfIt ? new BackupError(`It can't be written. ${error.message}.`, { cause: error }) : error;
}

const isTaken = (error: unknown) => error instanceof Error && "code" in error && error.code === "EEXIST";

function asBackupProblem(error: unknown, file: string): unknown {
  if (isTaken(error))
    return new BackupError(`${file} exists: another back-up is being made, or one was killed. Then remove it first.`);
  if (error instanceof Error && "code" in error && error.code === "ENOSPC")
    return new BackupError("The disk is full. Nothing of the back-up was kept.", { cause: error });
  return asFileProblem(error, file);
}

async function addAll(instance: BackedUpInstance, options: Options, add: AddPart): Promise<Manifest> {
  const addUnlessStopped: AddPart = (name, bytes) => {
    options.signal.throwIfAborted();
    return add(name, bytes);
  };
  const { manifest, repositories, layers } = await addDatabase(instance, options, addUnlessStopped);
  const { databaseUrl, dataDirectory, runDirectory, environment } = instance;
  const client = openDatabase(databaseUrl, { maxConnections: 2 });
  try {
    const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
    const config = artifactsConfigSchema.parse(given);
    const { store } = openArtifacts({ db: client.db, dataDirectory, config });
    const copies = openRepositoryCopies({ dataDirectory, db: client.db, store });
    for (const id of repositories) await addRepository(addUnlessStopped, id, copies, dataDirectory);
    const { TOWPATH_DRIVER: kind } = z.object({ TOWPATH_DRIVER: driverSettings.TOWPATH_DRIVER }).parse(given);
    const data = openDataCopies({ kind, dataDirectory, runDirectory });
    for (const id of await data.list()) await data.read(id, (bytes) => addUnlessStopped(`data/${id}`, bytes));
    for (const digest of layers)
      if (await store.has(digest))
        await addUnlessStopped(`artifacts/${digest}`, await store.get(digest)).catch(unlessGone);
  } finally {
    await client.close();
  }
  return manifest;
}

/** Removed since it was listed: it will be built again. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ArtifactError && error.code === "not_found")) throw error;
}

/** Everything that is read from the database at once, in front of all else. */
async function addDatabase(instance: BackedUpInstance, { withLayers }: Options, add: AddPart) {
  const snapshot = await openSnapshot(instance.databaseUrl, "backup");
  try {
    const [projects] = await snapshot.query<{ servers: number }>("SELECT count(*)::int AS servers FROM project");
    const manifest: Manifest = {
      format: formatVersion,
      createdAt: new Date().toISOString(),
      database: snapshot.content,
      servers: projects?.servers ?? 0,
      layers: withLayers,
    };
    await add("manifest.json", [Buffer.from(JSON.stringify(manifest))]);
    await addFiles(instance, add);
    const repositories = await snapshot.query<{ id: string }>("SELECT id FROM repository ORDER BY id");
    const layers = withLayers ? await layersOf(snapshot) : [];
    for (const table of snapshot.content.tables) await add(`database/${table.name}`, snapshot.rows(table));
    return { manifest, repositories: repositories.map(({ id }) => id), layers };
  } finally {
    await snapshot.close();
  }
}

/** Layers of the first release, which are directories without a digest, are built again. */
async function layersOf(snapshot: DatabaseSnapshot): Promise<readonly string[]> {
  const rows = await snapshot.query<{ digest: string }>(
    `SELECT DISTINCT unnest(ARRAY[layers ->> 'dependencies', layers ->> 'code']) AS digest
     FROM build JOIN deployment ON deployment.build_id = build.id ORDER BY digest`,
  );
  return rows.map(({ digest }) => digest).filter((digest) => /^[0-9a-f]{64}$/.test(digest ?? ""));
}

async function addFiles({ dataDirectory, environment }: BackedUpInstance, add: AddPart): Promise<void> {
  for (const [name, path] of Object.entries(instanceFiles)) {
    const file = join(dataDirectory, path);
    if (name === "settings.env") await add(`files/${name}`, [Buffer.from(settingsFile(environment))]);
    else if (existsSync(file)) await add(`files/${name}`, createReadStream(file));
    else if (name === "instance.json") await add(`files/${name}`, [Buffer.from(identityFrom(environment))]);
  }
}

/** Of an instance whose processes are started one by one: they have the secret from their settings. */
const identityFrom = ({
  TOWPATH_SECRET: secret,
  TOWPATH_PREVIOUS_SECRETS: previous,
}: BackedUpInstance["environment"]) =>
  JSON.stringify({ dataVersion: 1, secret, previousSecrets: (previous ?? "").split(",").filter(Boolean) });

/** Its bundle is made in `trash/`, where the clean-up removes what a killed process leaves. */
async function addRepository(
  add: AddPart,
  id: string,
  copies: ReturnType<typeof openRepositoryCopies>,
  dataDirectory: string,
): Promise<void> {
  const trash = join(dataDirectory, "trash");
  await mkdir(trash, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(trash, "backup-"));
  try {
    const bundle = join(scratch, "bundle");
    const copied = await copies.copy(id, bundle);
    if (copied === null) return;
    await add(`repositories/${id}.json`, [Buffer.from(JSON.stringify(copied))]);
    if (Object.keys(copied.refs).length > 0) await add(`repositories/${id}.bundle`, createReadStream(bundle));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
