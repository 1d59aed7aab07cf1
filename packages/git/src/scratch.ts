import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasEnded, processName } from "@towpath/runtime/process";

/** A private directory for one task, with a bare repository in it. */
export type Scratch = {
  readonly directory: string;
  readonly repository: string;
  /** Of everything in it; infinite for a repository that stays. */
  readonly maxBytes: number;
  /** Has something done when the task ends, before the directory is removed. */
  readonly atEnd: (work: () => Promise<void>) => void;
  readonly close: () => Promise<void>;
};

const named = /^towpath-git-[0-9a-f]{24}$|^authorities-/;
/** Names the process that uses a directory: several hosts and containers may share `parent`. */
const ownerFile = "owner";
/** Longer than any task runs. */
const oldMs = 24 * 60 * 60_000;

/** `parent` is made if it doesn't exist. */
export async function openScratch(parent: string, maxBytes: number): Promise<Scratch> {
  const directory = join(parent, `towpath-git-${randomBytes(12).toString("hex")}`);
  await mkdir(directory, { mode: 0o700, recursive: true });
  await writeFile(join(directory, ownerFile), await processName());
  const endings: (() => Promise<void>)[] = [];
  const close = async () => {
    await Promise.all(endings.splice(0).map((end) => end()));
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const atEnd = (work: () => Promise<void>) => void endings.push(work);
  return { directory, repository: join(directory, "repository.git"), maxBytes, atEnd, close };
}

/**
 * Removes leftovers of killed processes of this host from `parent`, and everything too old to be in use on another
 * host. Lists of authorities are written again when needed.
 */
export async function removeLeftovers(parent: string, now: Date = new Date()): Promise<void> {
  for (const name of (await readdir(parent).catch(() => [])).filter((each) => named.test(each))) {
    const directory = join(parent, name);
    const [made, owner] = await Promise.all([
      lstat(directory).catch(() => null),
      readFile(join(directory, ownerFile), "utf8").catch(() => null),
    ]);
    if (made === null) continue;
    const isOld = now.getTime() - made.mtimeMs > oldMs;
    if (isOld || (owner !== null && (await hasEnded(owner)))) await rm(directory, { recursive: true, force: true });
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
