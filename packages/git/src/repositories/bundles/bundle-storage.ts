import { createReadStream } from "node:fs";
import { join } from "node:path";
import { ArtifactError, type ArtifactStore } from "@towpath/artifacts";
import { notFound, TowpathError } from "@towpath/core/errors";
import type { Database } from "@towpath/db";
import { openScratch, type Scratch } from "../../scratch.ts";
import { allRefs, headBranch } from "../bare-repository.ts";
import type { RepositoryChange, RepositoryStorage } from "../storage.ts";
import { createBundle } from "./bundle.ts";
import { borrowObjects, objectsOf, openBundleCache, writeRepository } from "./cache.ts";
import { changedRefs, mergeRefs } from "./merge-refs.ts";
import { type BundledState, bundledStates } from "./state.ts";

export type BundleStorageOptions = {
  readonly db: Database;
  readonly store: ArtifactStore;
  /** On this machine, for restored repositories; it need not exist. */
  readonly cacheDirectory: string;
  /** On this machine, for running changes: see `openScratch`. */
  readonly scratchDirectory: string;
  /** A push that exceeds this bundles the repository into one again; the worker does at an eighth. Default: 64. */
  readonly maxBundles?: number;
  /** Of all kinds, in one repository: every read loads the row that holds them. Default: 50,000, about 4 MB. */
  readonly maxRefs?: number;
};

type Change = { readonly from: BundledState; readonly borrowed: string; readonly scratch: Scratch };

/** A push that loses against this many others fails. */
const maxAttempts = 50;

/**
 * Repositories as git bundles in the artifact store, with one row each that names the bundles (SRC-3, decision 056). A
 * push runs in a scratch repository, which borrows the objects of a restored one. Its new objects become a bundle,
 * stored before the row names it. The row is replaced by compare-and-swap, so no push is lost.
 */
export function bundleStorage(options: BundleStorageOptions): RepositoryStorage {
  const { db, store, cacheDirectory, scratchDirectory, maxBundles = 64, maxRefs = 50_000 } = options;
  const states = bundledStates(db);
  const cache = openBundleCache(cacheDirectory, store);

  /** @throws TowpathError `not_found`, `upstream_unavailable` */
  async function required(id: string, defaultBranch: string): Promise<BundledState> {
    const found = await states.find(id);
    if (found !== null) return found;
    await states.begin(id, defaultBranch);
    const begun = await states.find(id);
    if (begun !== null) return begun;
    throw (await states.wasPushedTo(id)) ? notStoredYet() : notFound("repository");
  }

  /** Restores a state, or a newer one if its bundles were replaced and removed meanwhile. */
  async function restored(id: string, state: BundledState): Promise<{ state: BundledState; directory: string }> {
    try {
      return { state, directory: await cache.restore(id, state) };
    } catch (error) {
      const newer = await states.find(id);
      if (newer === null || newer.generation === state.generation) throw problemOf(error);
      return restored(id, newer);
    }
  }

  async function publish(id: string, { from, borrowed, scratch }: Change): Promise<void> {
    const { directory, repository } = scratch;
    const [head, refs] = [await headBranch(repository), await allRefs(repository)];
    const changes = changedRefs(from.refs, refs);
    if (changes.length === 0 && head === from.head) return;
    const set = changes.flatMap(({ name, after }) => (after === null ? [] : [name]));
    let current = from;
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const merged = mergeRefs(current.refs, changes);
      const most = Math.max(maxRefs, Object.keys(current.refs).length);
      if (Object.keys(merged).length > most) throw tooManyRefs(maxRefs);
      const added = await addBundle(repository, directory, { refs: set, known: Object.values(current.refs) });
      const bundles = [...current.bundles, ...added];
      const next = { head: head === from.head ? current.head : head, refs: merged, bundles };
      if (await states.replace(current, id, next)) {
        // The push is stored; if this fails, the worker compacts it later.
        if (bundles.length > maxBundles) await compact(id).catch(() => {});
        return;
      }
      // Another push was faster. Bundle again, as the base of this one may be gone.
      const newer = await restored(id, await required(id, from.head));
      await borrowObjects(repository, [borrowed, objectsOf(newer.directory)]);
      current = newer.state;
    }
    throw new TowpathError("conflict", "Too many others push to this repository. Try again in a moment.");
  }

  /** Stores a bundle of the objects reachable from `refs` but not from `known`. Its digest; empty if nothing is new. */
  async function addBundle(
    repository: string,
    directory: string,
    what: { readonly refs: readonly string[]; readonly known: readonly string[] },
  ): Promise<readonly string[]> {
    const file = join(directory, "new.bundle");
    if (!(await createBundle(repository, { file, ...what }))) return [];
    return [
      await store.add(createReadStream(file)).catch((error: unknown) => {
        throw problemOf(error);
      }),
    ];
  }

  /** Replaces all bundles by one. Concurrent pushes build on refs that this bundle contains. */
  async function compact(id: string): Promise<void> {
    const found = await states.find(id);
    if (found === null) return;
    const { state, directory } = await restored(id, found);
    const scratch = await openScratch(scratchDirectory, Number.POSITIVE_INFINITY);
    try {
      const full = await addBundle(directory, scratch.directory, { refs: Object.keys(state.refs), known: [] });
      for (let current = await states.find(id); current !== null; current = await states.find(id)) {
        // Another process has compacted it.
        if (state.bundles.some((digest, at) => current?.bundles[at] !== digest)) return;
        const { head, refs } = current;
        const bundles = [...full, ...current.bundles.slice(state.bundles.length)];
        if (await states.replace(current, id, { head, refs, bundles })) return;
      }
    } finally {
      await scratch.close();
    }
  }

  return {
    create: async (id, defaultBranch) => void (await required(id, defaultBranch)),
    async read(id) {
      const found = await states.find(id);
      if (found !== null) return (await restored(id, found)).directory;
      // Its branches must not count as deleted.
      if (await states.wasPushedTo(id)) throw notStoredYet();
      return null;
    },
    async change(id, defaultBranch): Promise<RepositoryChange> {
      const { state, directory } = await restored(id, await required(id, defaultBranch));
      const scratch = await openScratch(scratchDirectory, Number.POSITIVE_INFINITY);
      const change = { from: state, borrowed: objectsOf(directory), scratch };
      try {
        await writeRepository(scratch.repository, state, [change.borrowed]);
      } catch (error) {
        await scratch.close();
        throw error;
      }
      return { directory: scratch.repository, store: () => publish(id, change), close: scratch.close };
    },
    async remove(id) {
      await states.remove(id);
      await cache.remove(id);
    },
    list: states.list,
    // Rows are deleted with their repository, bundles by the retention of artifacts, and the cache evicts itself.
    sweep: async () => 0,
    async pack(id) {
      const found = await states.find(id);
      if (found !== null && found.bundles.length > maxBundles / 8) await compact(id);
    },
    async adopt(id, from) {
      const [head, refs] = [await headBranch(from), await allRefs(from)];
      if (!(await states.isKnown(id))) throw notFound("repository");
      if (((await states.find(id))?.generation ?? 0) === 0) {
        const scratch = await openScratch(scratchDirectory, Number.POSITIVE_INFINITY);
        try {
          const bundles = await addBundle(from, scratch.directory, { refs: Object.keys(refs), known: [] });
          await states.beginWith(id, { head, refs, bundles });
        } finally {
          await scratch.close();
        }
      }
      return changedRefs((await required(id, head)).refs, refs).length === 0;
    },
  };
}

const tooManyRefs = (max: number) =>
  new TowpathError(
    "conflict",
    `A repository of this instance has at most ${max} branches and tags. Delete some first.`,
  );

const notStoredYet = () =>
  new TowpathError(
    "upstream_unavailable",
    "The commits of this repository are not in the artifact store yet. The machine whose data directory has them stores them when it starts; then try again.",
  );

/** For whoever pushes or clones in an outage of the store. Other errors, which are bugs, are returned unchanged. */
function problemOf(error: unknown): unknown {
  if (!(error instanceof ArtifactError) || error.code !== "unavailable") return error;
  const message =
    "The store with this instance's repositories can't be reached at the moment. Nothing was changed: try again shortly.";
  return new TowpathError("upstream_unavailable", message, { cause: error });
}
