import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { migrateDatabase } from "../client.ts";
import { startEmbeddedPostgres } from "../embedded/postgres.ts";
import { templateName } from "./test-database.ts";

const gibibyte = 1024 ** 3;

/**
 * Memory if there is plenty, otherwise the disk. A database has 700 files: creating one for each test file took a
 * quarter of a processor second on a disk, and takes a twentieth of that in memory.
 */
async function directoryForData(): Promise<string> {
  const memory = "/dev/shm";
  const room = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (room < 2 * gibibyte || freemem() < 4 * gibibyte) return tmpdir();
  await removeLost(memory);
  return memory;
}

const prefix = "towpath-test-";

/** Leftovers of killed runs would take memory until the machine restarts. */
async function removeLost(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      await rm(join(parent, name), { recursive: true, force: true });
  }
}

/** Vitest's global set-up: one PostgreSQL for the run, with a migrated template database. */
export default async function startTestPostgres(): Promise<() => Promise<void>> {
  if (process.env.TOWPATH_TEST_DATABASE_URL) return async () => {};
  const directory = await mkdtemp(join(await directoryForData(), `${prefix}${process.pid}-`));
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "data"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${templateName}`);
  // By default a gigabyte, which may be memory here.
  await admin.query("ALTER SYSTEM SET max_wal_size = '256MB'");
  await admin.query("SELECT pg_reload_conf()");
  await admin.end();
  await migrateDatabase(postgres.url.replace("/towpath?", `/${templateName}?`));
  process.env.TOWPATH_TEST_DATABASE_URL = postgres.url;
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
