import type { ArtifactStore, FirstReleaseLayers } from "@towpath/artifacts";
import type { Context } from "@towpath/core/context";
import { unlessBuilding } from "@towpath/core/delivery/build";
import {
  existingOrganizations,
  type Removal,
  referencedBundles,
  referencedLayers,
  runningBuilds,
  runParts,
} from "@towpath/core/operations/retention";
import type { BuildDriver } from "@towpath/runtime";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Longer than any build with its rollout: a build marks layers as used long before a row refers to them. */
const maxBuildMs = 60 * minuteMs;

export type FileSweep = {
  readonly ctx: Context;
  readonly builds: BuildDriver;
  readonly store: ArtifactStore;
  readonly firstRelease: FirstReleaseLayers;
  /** Maximum size of uv's cache of one organization. */
  readonly cacheBytes: number;
  /** The disk is nearly full: keep only what is needed. No build starts on this host meanwhile. */
  readonly low: boolean;
  readonly now: Date;
  readonly signal?: AbortSignal;
};

/**
 * Removes unused files (LOG-6): layers without a deployment, leftovers of killed builds, caches of deleted
 * organizations and caches above their limit. A killed worker leaves nothing half-deleted in use; the next sweep
 * removes the rest.
 */
export function sweepFiles(sweep: FileSweep): Promise<Removal> {
  const { ctx, builds, store, low, now, signal } = sweep;
  // A hung worker whose build was given to another one may still use a discarded cache.
  const discardedBefore = new Date(now.getTime() - (low ? 0 : maxBuildMs));
  return runParts(sweep, [
    { name: "scratch", run: () => removeLostScratch(ctx, builds) },
    { name: "layer", run: () => removeArtifacts(sweep) },
    { name: "incomplete_layer", run: () => store.removeIncomplete(maxBuildMs) },
    { name: "build_cache", run: () => removeCaches(sweep) },
    { name: "first_release_layer", run: () => removeFirstReleaseLayers(sweep) },
    { name: "trash", run: () => builds.caches.removeDiscarded(discardedBefore, signal) },
  ]);
}

/** Removes leftovers of builds that no worker runs any more. */
export const removeLostScratch = (ctx: Context, builds: Pick<BuildDriver, "removeLost">): Promise<number> =>
  builds.removeLost((ids) => runningBuilds({ ctx, input: { ids } }));

/** Layers and bundles of repositories. Asks what is unused, then reads which are referenced: see `ArtifactStore`. */
async function removeArtifacts({ ctx, store, low, now, signal }: FileSweep): Promise<number> {
  // A layer that was just replaced is often needed again.
  const unusedSince = new Date(now.getTime() - (low ? maxBuildMs : dayMs));
  const unused = await store.unusedSince(unusedSince);
  const [layers, bundles] = [await referencedLayers({ ctx }), await referencedBundles({ ctx })];
  return countRemoved(unused, signal, (digest) =>
    layers.has(digest) || bundles.has(digest) ? Promise.resolve(false) : store.delete(digest, { unusedSince }),
  );
}

/** Counts the items for which `remove` resolves to true. Continues after failures and throws all errors at the end. */
async function countRemoved<Item>(
  items: Iterable<Item>,
  signal: AbortSignal | undefined,
  remove: (item: Item) => Promise<boolean>,
): Promise<number> {
  let removed = 0;
  const errors: unknown[] = [];
  for (const item of items) {
    if (signal?.aborted) break;
    try {
      if (await remove(item)) removed += 1;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} could not be removed, ${removed} were`);
  return removed;
}

/**
 * Discards uv's cache of an organization as a whole: when the organization is gone (as with every fork's branch), when
 * the cache exceeds its limit, and when the disk is nearly full. The next build fills it again. A cache in use stays,
 * and no build can start to use one meanwhile: a build makes the directory first and mounts it later.
 */
async function removeCaches({ ctx, builds, cacheBytes, low, signal }: FileSweep): Promise<number> {
  const sizes = await builds.caches.sizes(signal);
  const existing = await existingOrganizations({ ctx, input: { ids: [...sizes.keys()] } });
  return countRemoved(sizes, signal, async ([organizationId, bytes]) => {
    if (existing.has(organizationId) && bytes <= cacheBytes && !low) return false;
    const discarded = await unlessBuilding({ ctx, input: { cacheOwnerId: organizationId } }, async () => {
      await builds.caches.discard(organizationId);
      return true;
    });
    return discarded ?? false;
  });
}

/** Layers of the first release are removed by the same rule: once no deployment or running build refers to them. */
async function removeFirstReleaseLayers({ ctx, firstRelease, signal }: FileSweep): Promise<number> {
  const stored = await firstRelease.list();
  if (stored.length === 0) return 0;
  const needed = await referencedLayers({ ctx });
  return countRemoved(stored, signal, async (layer) => {
    if (needed.has(layer.name)) return false;
    await firstRelease.remove(layer);
    return true;
  });
}
