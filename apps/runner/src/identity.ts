import { readFile, rename, writeFile } from "node:fs/promises";
import { newId } from "@towpath/core/ids";
import { z } from "zod";

const identitySchema = z.object({ id: z.uuid(), generation: z.number().int().positive() });

/** Identifies a runner in the rows of its instances. */
export type RunnerIdentity = z.infer<typeof identitySchema>;

/**
 * The identity for another start of this directory's runner: the same id, the next generation. A directory without one
 * gets a new id. Call it from one process at a time.
 */
export async function nextIdentity(runDirectory: string): Promise<RunnerIdentity> {
  const path = `${runDirectory}/runner.json`;
  const earlier = identitySchema.safeParse(parsed(await readFile(path, "utf8").catch(() => "")));
  const identity = earlier.success
    ? { id: earlier.data.id, generation: earlier.data.generation + 1 }
    : { id: newId(), generation: 1 };
  // Renamed, so that a kill doesn't leave a partial file.
  await writeFile(`${path}.new`, JSON.stringify(identity), { mode: 0o600 });
  await rename(`${path}.new`, path);
  return identity;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
