import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** A private directory for one task, with a bare repository in it. */
export type Scratch = {
  readonly directory: string;
  readonly repository: string;
  /** Of everything in it; infinite for a repository that stays. */
  readonly maxBytes: number;
  readonly close: () => Promise<void>;
};

/** Tells directories of this process from those of an earlier one with the same id, as in a restarted container. */
const run = randomBytes(4).toString("hex");
const named = /^towpath-git-(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{12}$/;
/** Longer than any task takes. */
const oldMs = 24 * 60 * 60_000;

export async function openScratch(parent: string, maxBytes: number): Promise<Scratch> {
  const directory = join(parent, `towpath-git-${process.pid}-${run}-${randomBytes(6).toString("hex")}`);
  await mkdir(directory, { mode: 0o700 });
  const close = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  return { directory, repository: join(directory, "repository.git"), maxBytes, close };
}

/** Removes what killed processes left in `parent`. */
export async function removeLeftovers(parent: string, now: Date = new Date()): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid = "", owner] = named.exec(name) ?? [];
    if (owner === undefined || owner === run) continue;
    const directory = join(parent, name);
    const made = await lstat(directory).catch(() => null);
    if (made === null) continue;
    const isOld = now.getTime() - made.mtimeMs > oldMs;
    if (isOld || Number(pid) === process.pid || !isRunning(Number(pid)))
      await rm(directory, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  if (pid <= 1) return pid === 1;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Bytes of all files in a directory, which may change meanwhile. */
export async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) bytes += await directoryBytes(path);
    else bytes += (await lstat(path).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}
