import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { copyCluster, NoRoom } from "@towpath/db/embedded";
import { CommandError, step } from "../terminal/terminal.ts";
import type { InstanceState } from "../up/control.schema.ts";

const run = promisify(execFile);

/** A copy of the database from before an upgrade. */
export type DatabaseCopy = {
  readonly path: string;
  /** Commands that go back to it, after the instance was stopped. */
  readonly restore: readonly string[];
};

const without =
  "Nothing was changed. Back the database up in your own way, then upgrade without a copy: ./towpath upgrade --without-copy";

/**
 * Copies the database into `before-upgrade/` of the data directory, and removes the copy of the upgrade before.
 *
 * @throws CommandError that says why there is no copy; the database was not changed
 */
export async function copyDatabase(state: InstanceState, dataDirectory: string): Promise<DatabaseCopy> {
  const directory = join(dataDirectory, "before-upgrade");
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const copy = await step("Copying the database", () =>
    state.clusterDirectory === null
      ? dumpExternal(state.databaseUrl, join(directory, `${time}.dump`))
      : copyEmbedded(state.databaseUrl, state.clusterDirectory, join(directory, time)),
  );
  for (const name of await readdir(directory))
    if (join(directory, name) !== copy.path) await rm(join(directory, name), { recursive: true, force: true });
  return copy;
}

async function copyEmbedded(url: string, cluster: string, path: string): Promise<DatabaseCopy> {
  await copyCluster(url, cluster, path).catch((error: unknown) => {
    const reason = error instanceof NoRoom ? describeRoom(error) : error instanceof Error ? error.message : error;
    throw new CommandError(`The database could not be copied: ${reason}. ${without}`);
  });
  return { path, restore: [`mv ${cluster} ${cluster}-failed`, `mv ${path} ${cluster}`] };
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024);

export const describeRoom = ({ neededBytes, freeBytes }: NoRoom): string =>
  `the copy takes ${mebibytes(neededBytes)} MiB, and ${mebibytes(freeBytes)} MiB are free`;

async function dumpExternal(databaseUrl: string, path: string): Promise<DatabaseCopy> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  const { address, password } = withoutPassword(databaseUrl);
  const env = { ...process.env, ...(password !== "" && { PGPASSWORD: password }) };
  try {
    await run("pg_dump", ["--format=custom", "--file", path, "--dbname", address], { env });
    await chmod(path, 0o600);
  } catch (error) {
    await rm(path, { force: true });
    const reason = whyNoDump(error);
    throw new CommandError(`The database could not be copied: ${reason.replace(/\.$/, "")}. ${without}`);
  }
  return { path, restore: [`pg_restore --no-owner --dbname ADDRESS_OF_AN_EMPTY_DATABASE ${path}`] };
}

/** Other users see the arguments of a process. An address with a socket (`user:password@/name?host=…`) is no URL for `URL`. */
function withoutPassword(databaseUrl: string): { readonly address: string; readonly password: string } {
  const [, start = "", password = "", end = ""] = /^([a-z]+:\/\/[^/:@]*):([^/@]*)(@.*)$/i.exec(databaseUrl) ?? [];
  return start === ""
    ? { address: databaseUrl, password }
    : { address: `${start}${end}`, password: decodeURIComponent(password) };
}

function whyNoDump(error: unknown): string {
  const needed = "pg_dump, of your PostgreSQL's release or a newer one, is not installed";
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return needed;
  const printed = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
  const [, versions] = /server version mismatch\s+pg_dump: \w+: (.+)/.exec(printed) ?? [];
  return versions === undefined ? printed : `${needed} (${versions})`;
}
