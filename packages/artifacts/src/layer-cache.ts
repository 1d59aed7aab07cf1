import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, readdir, rename, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { bootDirectory } from "@towpath/runtime/boot-directory";
import { hasEnded, processName } from "@towpath/runtime/process";
import { removeDirectory } from "@towpath/runtime/remove-directory";
import { packDirectory, unpackArchive } from "./archive.ts";
import type { FirstReleaseLayers } from "./first-release-layers.ts";
import { ArtifactError, type ArtifactStore, digestSchema, type UploadAddress } from "./port.ts";

export type LayerCacheConfig = {
  readonly store: ArtifactStore;
  /** A local directory, not shared with other hosts. All processes of the host may share it. */
  readonly directory: string;
  /** Layers that are not in the store but can run in place. */
  readonly firstRelease?: FirstReleaseLayers;
};

type StoredLayer = { readonly digest: string };

/** Unpacked layers on this host, in front of an artifact store. */
export type LayerCache = {
  /**
   * Stores a sealed directory as a layer and moves it into the cache. Nothing may change it meanwhile, and it must be
   * on the file system of the cache.
   * @param options.name hash of the layer's inputs, for `find`
   * @returns the layer, or the earlier one with the same name
   * @throws ArtifactError `too_large`, `archive_failed`
   */
  add(directory: string, options: { readonly name: string; readonly maxBytes: number }): Promise<StoredLayer>;
  /** The layer with this name, which then counts as used; null if there is none. */
  find(name: string): Promise<StoredLayer | null>;
  /** Whether `get` finds this layer, if its bytes are undamaged. */
  has(digest: string): Promise<boolean>;
  /** The digests among these that `get` would not find. Call it for many at a time: it lists the whole store. */
  missing(digests: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Absolute path of the unpacked, read-only layer; fetches, checks and unpacks it if it isn't here. The path stays
   * valid for an hour, and for as long as the caller of `evict` lists the digest as in use.
   * @throws ArtifactError `not_found`; `digest_mismatch` when the stored bytes are damaged: they are deleted, so that the
   *   next build makes the layer again
   */
  get(digest: string): Promise<string>;
  /**
   * Removes layers from this host (not from the store) that were not used for `unusedForMs`, at least an hour. Only the
   * process that knows which servers run on the host may call it.
   * @param options.inUse digests of the layers of all servers that run on this host
   */
  evict(options: { readonly inUse: ReadonlySet<string>; readonly unusedForMs: number }): Promise<string[]>;
  readonly remote: RemoteLayers;
};

/** Layers for machines that reach the store by addresses; see packages/runtime. */
type RemoteLayers = {
  /** @throws ArtifactError `not_found`, `unavailable` */
  address(digest: string): Promise<string>;
  /** See `ArtifactStore.receive`. @returns the layer, or the earlier one with the same name */
  receive(
    digest: string,
    options: { readonly name: string; readonly upload: (address: UploadAddress) => Promise<void> },
  ): Promise<StoredLayer>;
};

/** Long enough for a pod to start on a new node, and for 4 GB to be sent. */
const addressMs = 60 * 60_000;

/** A path from `get` stays valid at least this long, which is much longer than a start takes. */
const minUnusedMs = 60 * 60_000;

/**
 * Opens the cache. Entries are renamed into place after their digest was verified or computed, so they are complete and
 * starting a server needs no further check. Because a power failure can still lose recent writes, entries are stored
 * below the id of the current boot, and those of earlier boots are fetched again.
 */
export function createLayerCache({ store, directory, firstRelease }: LayerCacheConfig): LayerCache {
  const fetching = new Map<string, Promise<string>>();
  const incoming = join(directory, "incoming");
  let opened: Promise<string> | null = null;
  const root = () => {
    if (opened !== null) return opened;
    opened = bootDirectory(directory);
    // Not awaited: the first start doesn't need the room.
    void removeAbandoned(incoming, (name) => hasEnded(name.slice(0, name.lastIndexOf(" ")))).catch(() => {});
    return opened;
  };
  const partial = async () => {
    await mkdir(incoming, { recursive: true, mode: 0o711 });
    return join(incoming, `${await processName()} ${randomUUID()}`);
  };

  async function fetchLayer(digest: string): Promise<string> {
    const entry = join(await root(), digestSchema.parse(digest));
    if (await touch(entry)) return entry;
    const unpacked = await firstRelease?.find(digest);
    if (unpacked) return unpacked;
    const archive = await partial();
    const directory = await partial();
    try {
      await receive(store, digest, archive);
      await mkdir(directory);
      await unpackArchive(archive, directory);
      await publish(directory, entry);
      return entry;
    } finally {
      await Promise.all([removeDirectory(archive), removeDirectory(directory)]);
    }
  }

  return {
    async add(directory, { name, maxBytes }) {
      const digest = await packDirectory(directory, maxBytes, (packed) => store.add(packed));
      await publish(directory, join(await root(), digest));
      return { digest: await store.tag(name, digest) };
    },

    async find(name) {
      const digest = await store.resolve(name);
      return digest === null ? null : { digest };
    },

    has: async (digest) => (await store.has(digest)) || ((await firstRelease?.find(digest)) ?? null) !== null,

    async missing(digests) {
      const unpacked = new Set((await firstRelease?.list())?.map(({ name }) => name));
      return store.missing(digests.filter((digest) => !unpacked.has(digest)));
    },

    remote: {
      address: (digest) => store.address(digest, addressMs),
      async receive(digest, { name, upload }) {
        await store.receive(digest, addressMs, upload);
        return { digest: await store.tag(name, digest) };
      },
    },

    get(digest) {
      const running = fetching.get(digest);
      if (running !== undefined) return running;
      const fetched = fetchLayer(digest).finally(() => fetching.delete(digest));
      fetching.set(digest, fetched);
      return fetched;
    },

    async evict({ inUse, unusedForMs }) {
      const before = Date.now() - Math.max(unusedForMs, minUnusedMs);
      const evicted: string[] = [];
      const home = await root();
      for (const digest of await readdir(home)) {
        const entry = join(home, digest);
        if (inUse.has(digest) || (await stat(entry)).mtimeMs > before) continue;
        // Rename first, so that no reader sees a partly removed layer.
        const doomed = await partial();
        await rename(entry, doomed);
        if ((await stat(doomed)).mtimeMs > before) await publish(doomed, entry);
        else evicted.push(digest);
        await removeDirectory(doomed);
      }
      // Processes of other hosts: only the age of their files is known.
      await removeAbandoned(incoming, async (_, changedMs) => changedMs < before);
      return evicted;
    },
  };
}

/** Copies an artifact to a file. */
async function receive(store: ArtifactStore, digest: string, path: string): Promise<void> {
  try {
    await pipeline(await store.get(digest), createWriteStream(path, { flags: "wx", mode: 0o600 }));
  } catch (error) {
    // Delete it: while it exists, builds reuse it, so that nothing could replace it.
    if (error instanceof ArtifactError && error.code === "digest_mismatch")
      await store.delete(digest, { unusedSince: new Date(Date.now() + 1000) });
    throw error;
  }
}

/** Moves a complete directory into place. If another process was faster, keeps its identical directory. */
async function publish(directory: string, entry: string): Promise<void> {
  await chmod(directory, 0o755);
  try {
    await rename(directory, entry);
  } catch (error) {
    const taken = error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST");
    if (!taken) throw error;
    await removeDirectory(directory);
  }
  await touch(entry);
}

/** Marks an entry as used now; false if it doesn't exist. */
async function touch(entry: string): Promise<boolean> {
  try {
    await utimes(entry, new Date(), new Date());
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/** Removes leftovers of killed processes. */
async function removeAbandoned(
  directory: string,
  isAbandoned: (name: string, changedMs: number) => Promise<boolean>,
): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const found = await stat(join(directory, name)).catch(() => null);
    if (found !== null && (await isAbandoned(name, found.ctimeMs))) await removeDirectory(join(directory, name));
  }
}
