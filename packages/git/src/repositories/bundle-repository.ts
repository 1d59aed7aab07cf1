import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SizedBytes } from "@towpath/core/ports";
import { asStoreProblem, listRefs } from "./bare-repository.ts";
import { createBundle } from "./bundles/bundle.ts";

/**
 * A bundle of a repository's branches and tags; null if it has none. Its file has no name any more when this resolves, so
 * that nothing is left of it however the reader ends.
 *
 * @throws TowpathError `out_of_storage`
 */
export async function bundleRepository(directory: string): Promise<SizedBytes | null> {
  const refs = [...(await listRefs(directory)).keys()];
  const scratch = await mkdtemp(join(tmpdir(), "towpath-bundle-"));
  try {
    const file = join(scratch, "repository.bundle");
    if (!(await createBundle(directory, { file, refs, known: [] }))) return null;
    const handle = await open(file);
    const { size } = await handle.stat();
    return { size, bytes: handle.createReadStream() };
  } catch (error) {
    throw asStoreProblem(error);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
