import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { glob, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot as root } from "../repository-root.ts";
import { CommandError, step } from "../terminal/terminal.ts";

const run = promisify(execFile);
const web = join(root, "apps", "web");
const stampPath = join(web, "dist", ".sources");

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

/** Builds the site when its sources changed since the last build. @throws CommandError with the bundler's output. */
export async function ensureWebBuild(): Promise<void> {
  const digest = await sourcesDigest();
  if (existsSync(stampPath) && readFileSync(stampPath, "utf8") === digest) return;
  await step("Building the site (only after an update)", async () => {
    const vite = createRequire(join(web, "package.json"))
      .resolve("vite/package.json")
      .replace(/package\.json$/, "bin/vite.js");
    try {
      await run(process.execPath, [vite, "build", "--logLevel", "warn"], {
        cwd: web,
        // With another value from outside, the pages would get React's development build, which is half as fast.
        env: { ...process.env, NODE_ENV: "production" },
        maxBuffer: 64 * 1024 * 1024,
      });
    } catch (error) {
      const output = error instanceof Error && "stderr" in error ? String(error.stderr).slice(-4000) : String(error);
      throw new CommandError(`The site could not be built:\n${output}`);
    }
    await writeFile(stampPath, digest);
  });
}
