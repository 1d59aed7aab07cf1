import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";

/** Directories with a file or directory for each server, named after its package. */
const perServer = ["sources", "alone", "output"];

/** Removes files of servers that aren't `kept` from earlier runs, and the verdicts of other commits. */
export async function removeOthers(directory: string, kept: ReadonlySet<string>, verdictsFile: string): Promise<void> {
  for (const part of perServer) {
    for (const name of await namesIn(join(directory, part))) {
      if (!kept.has(name.replace(/\.(json|txt)$/, ""))) await remove(join(directory, part, name));
    }
  }
  for (const name of await namesIn(directory)) {
    if (name.startsWith("verdicts-") && name !== basename(verdictsFile)) await remove(join(directory, name));
  }
}

/** Removes the instance and all environments: tens of gigabytes, made again by the next run. */
export async function removeInstalled(directory: string): Promise<void> {
  await remove(join(directory, "data"));
  await remove(join(directory, "scratch"));
}

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5 });
