import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { glob, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot as root } from "../repository-root.ts";
import { CommandError, step } from "../terminal/terminal.ts";

const run = promisify(execFile);
const web = join(root, "apps", "web");
const builds = join(web, "dist");
/** The current one, and those that instances of this checkout may run from. */
const keptBuilds = 3;

/** Hash of all sources of the bundle, so that a pull or an edit makes a new one. */
async function sourcesDigest(): Promise<string> {
  const hash = createHash("sha256");
  const patterns = [
    "apps/web/src/**/*.*",
    "apps/web/public/**/*.*",
    "apps/web/vite/*.ts",
    "apps/web/*.ts",
    "apps/web/package.json",
    "docs/*.{md,svg}",
    "packages/*/src/**/*.ts",
    "packages/db/migrations/meta/_journal.json",
    "package-lock.json",
  ];
  const files: string[] = [];
  // Directories of routes may have a dot in their names too.
  for await (const entry of glob(patterns, { cwd: root, withFileTypes: true })) {
    const isSource = entry.isFile() && !entry.name.endsWith(".test.ts") && !entry.name.endsWith(".gen.ts");
    if (isSource) files.push(relative(root, join(entry.parentPath, entry.name)));
  }
  for (const file of files.sort()) hash.update(file).update(await readFile(join(root, file)));
  return hash.digest("hex");
}

/**
 * The directory of the site's build, made when its sources changed since the last one. Each build has a directory of its
 * own: an instance that runs from an earlier one loads parts of it when they are first needed.
 *
 * @throws CommandError with the bundler's output
 */
export async function builtWeb(): Promise<string> {
  const directory = join(builds, (await sourcesDigest()).slice(0, 16));
  if (!existsSync(directory)) {
    await step("Building the site (only after an update)", () => build(directory));
    await removeEarlierBuilds();
  }
  return directory;
}

async function build(directory: string): Promise<void> {
  const unfinished = `${directory}.${process.pid}`;
  const vite = createRequire(join(web, "package.json"))
    .resolve("vite/package.json")
    .replace(/package\.json$/, "bin/vite.js");
  try {
    await run(process.execPath, [vite, "build", "--outDir", unfinished, "--logLevel", "warn"], {
      cwd: web,
      // With another value from outside, the pages would get React's development build, which is half as fast.
      env: { ...process.env, NODE_ENV: "production" },
      maxBuffer: 64 * 1024 * 1024,
    });
    // Once it has its name it is taken for whole, also after a power cut.
    await run("sync", ["--file-system", unfinished]);
    await rename(unfinished, directory);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another command was faster.
    if (existsSync(directory)) return;
    const output = error instanceof Error && "stderr" in error ? String(error.stderr).slice(-4000) : String(error);
    throw new CommandError(`The site could not be built:\n${output}`);
  }
}

async function removeEarlierBuilds(): Promise<void> {
  const found = (await readdir(builds)).map((name) => {
    const path = join(builds, name);
    return { path, builtAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  const earlier = found.sort((a, b) => b.builtAt - a.builtAt).slice(keptBuilds);
  await Promise.all(earlier.map(({ path }) => rm(path, { recursive: true, force: true })));
}
