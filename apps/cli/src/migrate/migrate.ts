import { parse } from "../commands/parse.ts";
import { CommandError, print } from "../terminal/terminal.ts";
import { describeMigrations, prepareDatabase, waitForExternalDatabase } from "../up/database.ts";
import { interrupted } from "../up/interrupted.ts";

/**
 * `towpath migrate`: migrates the environment's database to this release, like `up` at its start. Concurrent runs take
 * turns.
 */
export async function migrate(args: string[]): Promise<number> {
  parse("migrate", args);
  const url = process.env.DATABASE_DIRECT_URL || process.env.DATABASE_URL;
  if (!url)
    throw new CommandError(
      "DATABASE_URL is not set. Without it there is nothing to do: ./towpath up migrates its own.",
    );
  const { signal } = interrupted();
  if (!(await waitForExternalDatabase(url, signal))) return 130;
  const migrated = await prepareDatabase(url);
  print(`The database is at ${migrated.to}, ${describeMigrations(migrated)}.`);
  return 0;
}
