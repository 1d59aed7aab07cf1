import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import { freemem } from "node:os";
import { join } from "node:path";

/** A new directory with a short path, because unix sockets' paths have at most 107 bytes. */
export function shortDirectory(): Promise<string> {
  return mkdtemp("/tmp/tw-");
}

const memory = "/dev/shm";
const gibibyte = 1024 ** 3;

/**
 * The same for environments of Python: in memory where there is plenty, because on a disk making their files and
 * removing them takes a third of a build's processor time.
 */
export async function roomyDirectory(): Promise<string> {
  if (!(await hasPlentyOfMemory())) return shortDirectory();
  await removeLost();
  return mkdtemp(join(memory, `tw-${process.pid}-`));
}

async function hasPlentyOfMemory(): Promise<boolean> {
  const mounts = await readFile("/proc/mounts", "utf8");
  const options = mounts
    .split("\n")
    .find((line) => line.split(" ")[1] === memory)
    ?.split(" ")[3];
  // In many containers nothing in it can be executed.
  if (options === undefined || options.split(",").includes("noexec")) return false;
  const { bavail, bsize } = await statfs(memory);
  return bavail * bsize > 6 * gibibyte && freemem() > 10 * gibibyte;
}

/** Leftovers of killed runs would take memory until the machine restarts. */
async function removeLost(): Promise<void> {
  for (const name of await readdir(memory)) {
    const pid = /^tw-(\d+)-/.exec(name)?.[1];
    // What is still mounted stays.
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      await rm(join(memory, name), { recursive: true, force: true }).catch(() => {});
  }
}
