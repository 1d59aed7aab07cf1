import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { migrateDatabase } from "../client.ts";
import { startEmbeddedPostgres } from "../embedded/postgres.ts";
import { templateName } from "./test-database.ts";

/** Vitest's global set-up: one PostgreSQL for the run, with a migrated template database. */
export default async function startTestPostgres(): Promise<() => Promise<void>> {
  if (process.env.TOWPATH_TEST_DATABASE_URL) return async () => {};
  const directory = await mkdtemp(join(tmpdir(), "towpath-test-"));
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "data"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${templateName}`);
  await admin.end();
  await migrateDatabase(postgres.url.replace("/towpath?", `/${templateName}?`));
  process.env.TOWPATH_TEST_DATABASE_URL = postgres.url;
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
