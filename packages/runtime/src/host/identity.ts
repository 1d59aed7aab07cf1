import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import type { RunnerIdentity } from "../port/driver.ts";
import { syncPath } from "./process/sync-path.ts";

const identitySchema = z.object({ id: z.uuid(), generation: z.number().int().positive() });

/**
 * The identity for the next start of this directory's runner: the same id, a higher generation than any before. A
 * directory without one gets a new id. Two runners that start at the same moment get different generations.
 */
export async function nextIdentity(runDirectory: string): Promise<RunnerIdentity> {
  const path = `${runDirectory}/runner.json`;
  const earlier = identitySchema.safeParse(parsed(await readFile(path, "utf8").catch(() => "")));
  const { id, generation } = earlier.success ? earlier.data : { id: randomUUID(), generation: 0 };
  const identity = { id, generation: await claimGeneration(runDirectory, generation) };
  // Renamed, so that a kill doesn't leave a partial file, and flushed: with another id, or with the same generation once
  // more, the runner after a power cut would take the instances of the one before for those of a runner that lives.
  const draft = `${path}.${identity.generation}`;
  await writeFile(draft, JSON.stringify(identity), { mode: 0o600 });
  await syncPath(draft);
  await rename(draft, path);
  await syncPath(runDirectory);
  return identity;
}

const claimPattern = /^generation-(\d+)$/;
/** More than the number of runners that may start while another one is between reading and claiming. */
const keptClaims = 16;

/** A generation after `known` and after all claimed ones; the file system decides between two concurrent claims. */
async function claimGeneration(runDirectory: string, known: number): Promise<number> {
  const claims = (await readdir(runDirectory)).map((name) => Number(claimPattern.exec(name)?.[1] ?? 0));
  for (let generation = Math.max(known, ...claims) + 1; ; generation++) {
    try {
      await writeFile(`${runDirectory}/generation-${generation}`, "", { flag: "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      continue;
    }
    const old = claims.filter((claim) => claim > 0 && claim <= generation - keptClaims);
    await Promise.all(old.map((claim) => rm(`${runDirectory}/generation-${claim}`, { force: true })));
    return generation;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
