import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ArtifactError, type ArtifactStore } from "@towpath/artifacts";
import { TowpathError } from "@towpath/core/errors";
import { bootDirectory } from "@towpath/runtime/boot-directory";
import { ensureRepository, isStored } from "../bare-repository.ts";
import { unpackBundle } from "./bundle.ts";
import type { BundledState } from "./state.ts";

export type BundleCache = {
  /**
   * Directory of a bare repository in exactly this state. Read-only; it stays for some hours.
   *
   * @throws TowpathError `internal` if a bundle is damaged or missing
   */
  restore(id: string, state: BundledState): Promise<string>;
  remove(id: string): Promise<void>;
};

/** Longer than any clone or build reads. */
const unusedMs = 24 * 3_600_000;
const evictEveryMs = 3_600_000;

const hashOf = ({ head, refs, bundles }: BundledState) =>
  createHash("sha256")
    .update(JSON.stringify([head, refs, bundles]))
    .digest("hex")
    .slice(0, 32);

/** The objects that the repository of a state borrows. */
export const objectsOf = (restored: string) => join(dirname(restored), "objects.git", "objects");

/**
 * Restored repositories in a directory that the processes of this machine share. Nothing is changed in place, so
 * nothing is locked, and a killed process leaves nothing partial. Below the id of the boot:
 *
 *     <id>/<first bundle>/objects.git            objects of the bundles; it only grows
 *     <id>/<first bundle>/objects.git/bundles/   names of the bundles in it
 *     <id>/<first bundle>/<hash of a state>.git  the state's refs; made elsewhere and renamed into place
 */
export function openBundleCache(directory: string, store: ArtifactStore): BundleCache {
  const restoring = new Map<string, Promise<string>>();
  let evictedAt = 0;
  let opened: Promise<string> | null = null;
  const root = () => {
    opened ??= bootDirectory(directory).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };

  async function restore(id: string, state: BundledState): Promise<string> {
    const home = await root();
    const base = join(home, id, state.bundles[0]?.slice(0, 16) ?? "empty");
    const restored = join(base, `${hashOf(state)}.git`);
    if ((await touch(base)) && (await touch(restored))) return restored;
    if (Date.now() - evictedAt > evictEveryMs) {
      evictedAt = Date.now();
      await evict(home, evictedAt - unusedMs);
    }
    const objects = join(base, "objects.git");
    await ensureRepository(objects, state.head);
    for (const digest of state.bundles) await addBundle(objects, digest, store);
    const unfinished = `${restored}.${randomUUID()}`;
    await writeRepository(unfinished, state, [objectsOf(restored)]);
    await rename(unfinished, restored).catch(async (error: unknown) => {
      await rm(unfinished, { recursive: true, force: true });
      if (!(await touch(restored))) throw error;
    });
    return restored;
  }

  return {
    restore(id, state) {
      const key = `${id} ${hashOf(state)}`;
      const running = restoring.get(key) ?? restore(id, state).finally(() => restoring.delete(key));
      restoring.set(key, running);
      return running;
    },
    remove: async (id) => discard(join(await root(), id)),
  };
}

/**
 * Makes a bare repository of a state by writing its files, faster than git: `borrowed` are directories of objects.
 */
export async function writeRepository(
  directory: string,
  { head, refs }: Pick<BundledState, "head" | "refs">,
  borrowed: readonly string[],
): Promise<void> {
  await mkdir(join(directory, "objects", "info"), { recursive: true, mode: 0o700 });
  await mkdir(join(directory, "refs"));
  const lines = Object.entries(refs).map(([name, sha]) => `${sha} ${name}\n`);
  await Promise.all([
    writeFile(join(directory, "HEAD"), `ref: refs/heads/${head}\n`),
    writeFile(join(directory, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"),
    writeFile(join(directory, "packed-refs"), lines.join("")),
    borrowObjects(directory, borrowed),
  ]);
}

export const borrowObjects = (directory: string, borrowed: readonly string[]): Promise<void> =>
  writeFile(join(directory, "objects", "info", "alternates"), borrowed.map((each) => `${each}\n`).join(""));

async function addBundle(objects: string, digest: string, store: ArtifactStore): Promise<void> {
  const added = join(objects, "bundles", digest);
  if (await isStored(added)) return;
  await mkdir(dirname(added), { recursive: true });
  const file = `${added}.${randomUUID()}`;
  try {
    await receive(store, digest, file);
    await unpackBundle(objects, file);
    await writeFile(added, "");
  } finally {
    await rm(file, { force: true });
  }
}

async function receive(store: ArtifactStore, digest: string, file: string): Promise<void> {
  try {
    await pipeline(await store.get(digest), createWriteStream(file, { mode: 0o600 }));
  } catch (error) {
    const code = error instanceof ArtifactError ? error.code : null;
    if (code === "not_found") throw unreadable("missing", digest, error);
    if (code === "digest_mismatch") throw unreadable("damaged", digest, error);
    throw error;
  }
}

const unreadable = (how: "missing" | "damaged", digest: string, cause: unknown) =>
  new TowpathError(
    "internal",
    `The repository can't be read: a part of it is ${how} in the artifact store. Ask the operator to restore the artifact ${digest} from a back-up.`,
    { cause },
  );

/** Marks it as used now; false if it doesn't exist. */
const touch = (path: string) =>
  utimes(path, new Date(), new Date()).then(
    () => true,
    () => false,
  );

/** Renames before deleting, so that nobody uses a partly deleted directory. */
async function discard(path: string): Promise<void> {
  const removed = `${path}.${randomUUID()}.removed`;
  await rename(path, removed).catch(() => {});
  await rm(removed, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes directories unused since `sinceMs`, and leftovers of killed processes. */
async function evict(directory: string, sinceMs: number): Promise<void> {
  const isOld = async (path: string) => ((await stat(path).catch(() => null))?.mtimeMs ?? sinceMs) < sinceMs;
  const names = (path: string) => readdir(path).catch(() => []);
  for (const id of await names(directory)) {
    if (id.endsWith(".removed")) await rm(join(directory, id), { recursive: true, force: true });
    for (const base of await names(join(directory, id))) {
      const path = join(directory, id, base);
      if (base.endsWith(".removed")) await rm(path, { recursive: true, force: true });
      else if (await isOld(path)) await discard(path);
      else {
        for (const name of (await names(path)).filter((each) => each !== "objects.git")) {
          if (await isOld(join(path, name))) await rm(join(path, name), { recursive: true, force: true });
        }
      }
    }
    // Only if it is empty.
    await rmdir(join(directory, id)).catch(() => {});
  }
}
