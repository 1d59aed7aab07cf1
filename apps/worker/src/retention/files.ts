import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ArtifactStore, FirstReleaseLayers } from "@towpath/artifacts";
import { unlessBuilding } from "@towpath/core/build";
import type { Context } from "@towpath/core/context";
import {
  existingOrganizations,
  type Removal,
  referencedBundles,
  referencedLayers,
  runParts,
} from "@towpath/core/retention";
import { removeDirectory } from "@towpath/runtime";
import { directoryBytes } from "./disk.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Longer than any build with its rollout: a build marks layers as used long before a row refers to them. */
const maxBuildMs = 60 * minuteMs;

export type FileSweep = {
  readonly ctx: Context;
  readonly dataDirectory: string;
  readonly store: ArtifactStore;
  readonly firstRelease: FirstReleaseLayers;
  readonly cleanScratch: () => Promise<number>;
  /** What uv's cache of one organization may hold. */
  readonly cacheBytes: number;
  /** The disk is nearly full: keep only what is needed. No build starts on this host meanwhile. */
  readonly low: boolean;
  readonly now: Date;
  readonly signal?: AbortSignal;
};

/**
 * Removes files that nothing needs any more (LOG-6): layers without a deployment, what killed builds left, caches of
 * organizations that were deleted or whose cache is too large. Everything is renamed out of use before it is deleted, so
 * a killed worker leaves nothing half-deleted in use; the next sweep removes the rest.
 */
export function sweepFiles(sweep: FileSweep): Promise<Removal> {
  return runParts(sweep, [
    { name: "scratch", run: sweep.cleanScratch },
    { name: "layer", run: () => removeArtifacts(sweep) },
    { name: "incomplete_layer", run: () => sweep.store.removeIncomplete(maxBuildMs) },
    { name: "resolution", run: () => removeOldFiles(join(sweep.dataDirectory, "cache", "resolutions"), sweep) },
    { name: "build_cache", run: () => removeCaches(sweep) },
    { name: "first_release_layer", run: () => removeFirstReleaseLayers(sweep) },
    { name: "trash", run: () => emptyTrash(sweep) },
  ]);
}

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

/** Counts the items for which `remove` resolves to true. Goes on after a failure and throws all errors at the end. */
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

/** Resolutions are reused for a day. */
async function removeOldFiles(directory: string, { now }: FileSweep): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const found = await stat(join(directory, name)).catch(() => null);
    if (found === null || now.getTime() - found.mtimeMs < dayMs) continue;
    await unlink(join(directory, name)).catch(() => {});
    removed += 1;
  }
  return removed;
}

/**
 * Removes uv's cache of an organization as a whole: when the organization is gone, as every one of a fork's branch is, when the cache has outgrown its limit,
 * and when the disk is nearly full. It is filled again by the next build. One that a build uses stays, and none begins
 * while it is moved: a build makes the directory and mounts it later.
 */
async function removeCaches(sweep: FileSweep): Promise<number> {
  const directory = join(sweep.dataDirectory, "cache", "uv");
  const sizes = await directoryBytes(directory, sweep.signal);
  const { ctx } = sweep;
  const existing = await existingOrganizations({ ctx, input: { ids: [...sizes.keys()] } });
  return countRemoved(sizes, sweep.signal, async ([organizationId, bytes]) => {
    if (existing.has(organizationId) && bytes <= sweep.cacheBytes && !sweep.low) return false;
    const moved = await unlessBuilding({ ctx, input: { cacheOwnerId: organizationId } }, async () => {
      await discard(sweep.dataDirectory, join(directory, organizationId));
      return true;
    });
    return moved ?? false;
  });
}

/** Those of the first release go as the others do: not before no deployment and no build under way refers to them. */
async function removeFirstReleaseLayers({ ctx, dataDirectory, firstRelease, signal }: FileSweep): Promise<number> {
  const stored = await firstRelease.list();
  if (stored.length === 0) return 0;
  const needed = await referencedLayers({ ctx });
  return countRemoved(stored, signal, async ({ name, path }) => {
    if (needed.has(name)) return false;
    await discard(dataDirectory, path);
    return true;
  });
}

const trashOf = (dataDirectory: string) => join(dataDirectory, "trash");

async function discard(dataDirectory: string, path: string): Promise<void> {
  await mkdir(trashOf(dataDirectory), { recursive: true });
  await rename(path, join(trashOf(dataDirectory), randomUUID()));
}

/** A worker that hung so long that its build was given to another one may still use a cache that was moved here. */
async function emptyTrash({ dataDirectory, low, now, signal }: FileSweep): Promise<number> {
  return countRemoved(await readdir(trashOf(dataDirectory)).catch(() => []), signal, async (name) => {
    const path = join(trashOf(dataDirectory), name);
    const found = await stat(path).catch(() => null);
    // The change time: when it was moved here.
    if (found === null || (!low && now.getTime() - found.ctimeMs < maxBuildMs)) return false;
    await removeDirectory(path);
    return true;
  });
}
