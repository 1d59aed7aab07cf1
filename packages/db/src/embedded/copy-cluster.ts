import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { bytesIn, requireRoom, unlessMissing } from "./room.ts";

const run = promisify(execFile);

/** What belongs to the running server, and is made again by the next one. Of directories an empty one is copied. */
const leftOut: ReadonlySet<string> = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
  "postmaster.opts",
  "postmaster.pid",
]);
const isTemporary = (name: string) => name.startsWith("pgsql_tmp");
/** Written while the files are copied, and needed to make them consistent: the segments of the write-ahead log. */
const isSegment = (name: string) => /^[0-9A-F]{24}$/.test(name);

/**
 * Copies the data directory of a running server, by PostgreSQL's low-level interface for back-ups. The copy has the state
 * of the moment when this resolves; a server that starts on it recovers it as after a crash. `url` must be of a superuser.
 * `target` exists only when it is whole.
 *
 * @throws NoRoom before it copies anything, or Error of the database or the file system
 */
export async function copyCluster(url: string, source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await requireRoom(await bytesIn(source), dirname(target));
  const unfinished = `${target}.new`;
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    await rm(unfinished, { recursive: true, force: true });
    // Temporary: it ends with the connection. Until then no segment of the log is recycled.
    await client.query("SELECT pg_create_physical_replication_slot($1, true, true)", [`towpath_copy_${process.pid}`]);
    await client.query("SELECT pg_backup_start('towpath', true)");
    await copyDirectory(source, unfinished, (name) => leftOut.has(name));
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    await writeFile(join(unfinished, "backup_label"), rows[0]?.labelfile ?? "", { mode: 0o600 });
    const log = "pg_wal";
    await copyDirectory(join(source, log), join(unfinished, log), (name) => !isSegment(name));
    await run("sync", ["--file-system", unfinished]);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    await client.end();
  }
}

async function copyDirectory(source: string, target: string, isLeftOut: (name: string) => boolean): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const { name } = entry;
    const [from, to] = [join(source, name), join(target, name)];
    if (entry.isDirectory()) {
      if (isLeftOut(name)) await mkdir(to, { recursive: true, mode: 0o700 });
      else await copyDirectory(from, to, isTemporary);
    } else if (!isLeftOut(name)) {
      // A table may be removed meanwhile: the log says so.
      await copyFile(from, to, constants.COPYFILE_FICLONE).catch(unlessMissing);
    }
  }
}
