import { stat } from "node:fs/promises";
import { join } from "node:path";
import { restoreBackup, verifyBackup } from "@towpath/backup";
import { parse } from "../commands/parse.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { bold, print, step } from "../terminal/terminal.ts";
import { interrupted } from "../up/interrupted.ts";
import { describe } from "./backup.ts";
import { identityOf } from "./keys.ts";
import { asCommandProblem } from "./problems.ts";

/** `towpath restore FILE`: into an empty data directory, after the whole file was checked. */
export async function restore(args: string[]): Promise<number> {
  const { values, positionals } = parse("restore", args);
  const [file = ""] = positionals;
  const identity = await identityOf(values);
  const { signal } = interrupted();
  const verified = await step("Checking every part", () => verifyBackup({ file, identity, signal })).catch(
    asCommandProblem,
  );
  print(`${file} is complete: ${describe(verified)}`);
  const dataDirectory = resolveDataDirectory(values["data-dir"]);
  const { DATABASE_DIRECT_URL, DATABASE_URL } = process.env;
  const databaseUrl = values["database-url"] || DATABASE_DIRECT_URL || DATABASE_URL || null;
  const target = { dataDirectory, databaseUrl };
  await step(`Restoring into ${dataDirectory}`, () =>
    restoreBackup({ file, identity, verified, target, signal }),
  ).catch(asCommandProblem);
  const settings = join(dataDirectory, "settings.env");
  if ((await stat(settings)).size > 0)
    print(`Its settings are in ${settings}. Change what differs here, then: set -a; . ${settings}; set +a`);
  // Otherwise `up` would make a database of its own beside it.
  const ofDatabase = databaseUrl === null ? "" : "DATABASE_URL=ITS_ADDRESS ";
  print(`Start it: ${bold(`${ofDatabase}./towpath up --data-dir ${dataDirectory}`)}`);
  if (!verified.manifest.layers)
    print("Its servers are built again at the first start, with the versions that they had.");
  return 0;
}
