import { join } from "node:path";
import { type Migrated, migrateDatabase, waitForDatabase } from "@towpath/db";
import { NewerSchema } from "@towpath/db/release";
import { CommandError, printError, step, yellow } from "../terminal/terminal.ts";
import { movePostgres } from "./move-postgres.ts";
import type { UpOptions } from "./options.ts";
import { SupervisedPostgres } from "./supervised-postgres.ts";

export type Database = {
  readonly url: string;
  /** Past a pooler. */
  readonly directUrl: string;
  /** Null: an external database. */
  readonly postgres: SupervisedPostgres | null;
};

/** Where the embedded PostgreSQL keeps its data. */
export const clusterOf = (dataDirectory: string): string => join(dataDirectory, "postgres");

/** Null: the instance was stopped while it waited for the database. */
export async function startDatabase(options: UpOptions, stopping: AbortSignal): Promise<Database | null> {
  const { databaseUrl, directDatabaseUrl, dataDirectory, runDirectory } = options;
  if (databaseUrl !== null) {
    const directUrl = directDatabaseUrl ?? databaseUrl;
    for (const url of new Set([directUrl, databaseUrl]))
      if (!(await waitForExternalDatabase(url, stopping))) return null;
    return { url: databaseUrl, directUrl, postgres: null };
  }
  const directories = { dataDirectory: clusterOf(dataDirectory), socketDirectory: join(runDirectory, "postgres") };
  await movePostgres(directories, stopping);
  if (stopping.aborted) return null;
  const postgres = await step("Starting PostgreSQL", () => SupervisedPostgres.start({ ...directories, durable: true }));
  return { url: postgres.url, directUrl: postgres.url, postgres };
}

/** False when `stopping` was aborted first. @throws CommandError when it refuses */
export async function waitForExternalDatabase(url: string, stopping: AbortSignal): Promise<boolean> {
  const onWaiting = (address: string, reason: string) =>
    printError(`${yellow("!")} The database ${address} does not answer yet: ${reason}. Waiting for it.`);
  return waitForDatabase(url, { onWaiting, signal: stopping }).catch((error: Error) => {
    throw new CommandError(`${error.message}. Look at DATABASE_URL.`);
  });
}

/** Migrates it, past a pooler. @throws CommandError when a newer release has used it */
export function prepareDatabase(directUrl: string): Promise<Migrated> {
  return step("Preparing the database", () => migrateDatabase(directUrl)).catch((error: unknown) => {
    throw error instanceof NewerSchema ? new CommandError(error.message) : error;
  });
}

/** Such as "2 migrations". */
export const describeMigrations = ({ applied }: Pick<Migrated, "applied">): string =>
  applied === 0 ? "no migrations" : `${applied} ${applied === 1 ? "migration" : "migrations"}`;
