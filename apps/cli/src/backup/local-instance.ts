import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BackedUpInstance } from "@towpath/backup";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { findRunning } from "../instance/instance.ts";
import { CommandError } from "../terminal/terminal.ts";
import { runDirectoryOf } from "../up/options.ts";

type Environment = BackedUpInstance["environment"];

/**
 * Passes the instance of a data directory to `work`. If it isn't running, its own PostgreSQL runs meanwhile, and the
 * settings are those of this command.
 */
export async function withLocalInstance<Result>(
  dataDirectory: string,
  work: (instance: BackedUpInstance) => Promise<Result>,
): Promise<Result> {
  const running = findRunning(dataDirectory);
  const environment = running === null ? process.env : await environmentOf(running.pid);
  const runDirectory = runDirectoryOf(dataDirectory);
  const instance = { dataDirectory, runDirectory, environment };
  const databaseUrl = environment.DATABASE_DIRECT_URL || environment.DATABASE_URL || running?.databaseUrl;
  if (databaseUrl) return work({ ...instance, databaseUrl });
  const cluster = join(dataDirectory, "postgres");
  if (!existsSync(join(cluster, "PG_VERSION")))
    throw new CommandError(
      `There is no instance with a database of its own in ${dataDirectory}. Name its directory with --data-dir; if its database is ` +
        "elsewhere and it isn't running, set DATABASE_URL.",
    );
  const socketDirectory = join(runDirectory, "postgres");
  const postgres = await startEmbeddedPostgres({ dataDirectory: cluster, socketDirectory, durable: true });
  try {
    return await work({ ...instance, databaseUrl: postgres.url });
  } finally {
    await postgres.stop();
  }
}

/** The settings with which a process was started. */
async function environmentOf(pid: number): Promise<Environment> {
  const text = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => {
    throw new CommandError("The settings of the running instance can't be read. Run this as the user who started it.");
  });
  const pairs = text.split("\0").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}
