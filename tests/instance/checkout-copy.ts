import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "./towpath-process.ts";

// A copy of this checkout plays another release.

const run = promisify(execFile);

/** Copies the sources; toolchain and packages stay those of this checkout. */
export async function copyCheckout(to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const copy = 'git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$1"';
  await run("sh", ["-c", copy, "sh", to], { cwd: repositoryRoot });
  await symlink(join(repositoryRoot, ".toolchain"), join(to, ".toolchain"));
  await linkPackages(to);
}

/** Links this checkout's packages into a copy, but its own workspaces. */
export async function linkPackages(to: string): Promise<void> {
  await mkdir(join(to, "node_modules/@towpath"), { recursive: true });
  const packages = join(repositoryRoot, "node_modules");
  for (const entry of await readdir(packages))
    if (entry !== "@towpath") await symlink(join(packages, entry), join(to, "node_modules", entry));
  for (const each of await readdir(join(packages, "@towpath"))) {
    const link = await readlink(join(packages, "@towpath", each));
    const workspace = relative(repositoryRoot, join(packages, "@towpath", link));
    // An earlier checkout may lack it.
    if (!existsSync(join(to, workspace))) continue;
    await symlink(link, join(to, "node_modules/@towpath", each));
    await symlink(join(repositoryRoot, workspace, "node_modules"), join(to, workspace, "node_modules"));
  }
}

/** Adds a migration to a copy, after its newest one. */
export async function addMigration(checkout: string, tag: string, sql: string): Promise<void> {
  const migrations = join(checkout, "packages/db/migrations");
  const path = join(migrations, "meta/_journal.json");
  const journal = JSON.parse(await readFile(path, "utf8"));
  const last = journal.entries.at(-1);
  const idx = last.idx + 1;
  journal.entries.push({ ...last, idx, when: last.when + 1, tag: `${String(idx).padStart(4, "0")}_${tag}` });
  await writeFile(path, JSON.stringify(journal));
  await writeFile(join(migrations, `${journal.entries.at(-1).tag}.sql`), sql);
}

/** Runs a command of a copy's own launcher to its end. `text`: all that it printed. */
export async function runIn(
  checkout: string,
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly text: string }> {
  const child = spawn(join(checkout, "towpath"), args, {
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const onData = (chunk: Buffer) => {
    text += chunk.toString();
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", onData);
  const [status] = await once(child, "close");
  return { status: Number(status), text };
}
