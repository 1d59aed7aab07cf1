import { execFile } from "node:child_process";
import { cp, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const web = join(import.meta.dirname, "..");
/** Not in `dist`, which has the builds of instances. */
const directory = join(web, "testing", "dist");

/** Longer than a build on a slow machine: on a fast one it takes twenty seconds of a processor. */
export const maxBuildMs = 600_000;
const pauseMs = 200;

/**
 * The directory of the production build that tests run against. It is built once for all test files, and again only when
 * a source is newer. A directory serves as the lock, because `mkdir` succeeds in one process only.
 */
export async function builtWeb(): Promise<string> {
  const lock = join(web, "testing", "dist.lock");
  for (let waitedMs = 0; waitedMs < maxBuildMs; waitedMs += pauseMs) {
    if (
      await mkdir(lock).then(
        () => true,
        () => false,
      )
    ) {
      try {
        if (!(await isFresh(join(directory, "server/server.js")))) await copyOrBuild();
        return directory;
      } finally {
        await rm(lock, { recursive: true, force: true });
      }
    }
    const age =
      Date.now() -
      (await stat(lock).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      ));
    // Break the lock of a run that was killed while it built.
    if (age > maxBuildMs) await rm(lock, { recursive: true, force: true });
    await sleep(pauseMs);
  }
  throw new Error("The lock of the test build was not released.");
}

/** Whether a file of a build is newer than all sources. */
async function isFresh(path: string): Promise<boolean> {
  const built = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const packages = join(web, "../../packages");
  const own = ["src", "vite", "public", "vite.config.ts"].map((name) => join(web, name));
  const sources = [...own, packages, join(web, "../../python/samples"), join(web, "../../docs")];
  return built > Math.max(...(await Promise.all(sources.map(newest))));
}

async function newest(path: string): Promise<number> {
  const info = await stat(path);
  if (!info.isDirectory()) return info.mtimeMs;
  const inner = (await readdir(path)).filter((name) => !/^(node_modules|dist)$|\.test\.tsx?$|\.gen\.ts$/.test(name));
  return Math.max(0, ...(await Promise.all(inner.map((name) => newest(join(path, name))))));
}

/**
 * Copies a build of `./towpath up` or `./towpath test` if one is complete and new: a build takes 20 s of a processor.
 */
async function copyOrBuild(): Promise<void> {
  for (const name of await readdir(join(web, "dist")).catch(() => [])) {
    const found = join(web, "dist", name);
    // Names of unfinished ones have a suffix.
    if (name.includes(".") || !(await isFresh(join(found, "server/server.js")))) continue;
    await rm(directory, { recursive: true, force: true });
    return await cp(found, directory, { recursive: true });
  }
  await build();
}

async function build(): Promise<void> {
  const vite = join(web, "../../node_modules/vite/bin/vite.js");
  await promisify(execFile)(process.execPath, [vite, "build", "--outDir", "testing/dist", "--logLevel", "error"], {
    cwd: web,
    env: { ...process.env, NODE_ENV: "production", VITEST: undefined },
    maxBuffer: 16 * 1024 * 1024,
  });
}
