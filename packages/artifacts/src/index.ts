import { join } from "node:path";
import type { Database } from "@towpath/db";
import { createArtifactStore } from "./artifact-store.ts";
import type { ArtifactsConfig } from "./config.ts";
import { directoryBlobs } from "./directory-blobs.ts";
import { type FirstReleaseLayers, openFirstReleaseLayers } from "./first-release-layers.ts";
import { createLayerCache, type LayerCache } from "./layer-cache.ts";
import type { ArtifactStore } from "./port.ts";
import { registerExisting } from "./register-existing.ts";
import { s3Blobs } from "./s3-blobs.ts";

export { openBucket } from "./bucket.ts";
export { checkBucket } from "./check-bucket.ts";
export {
  type ArtifactsConfig,
  artifactsConfigSchema,
  type BucketConfig,
  bucketAddressPattern,
  bucketFrom,
  bucketServiceSettings,
} from "./config.ts";
export type { FirstReleaseLayers } from "./first-release-layers.ts";
export type { LayerCache } from "./layer-cache.ts";
export { ArtifactError, type ArtifactStore } from "./port.ts";
export { restoreArtifact } from "./restore-artifact.ts";

export type Artifacts = {
  readonly store: ArtifactStore;
  readonly layers: LayerCache;
  readonly firstRelease: FirstReleaseLayers;
  /**
   * Registers artifacts that earlier releases and an earlier setting left in the data directory. The worker calls it
   * before it builds anything.
   *
   * @throws ArtifactError `unavailable`
   */
  registerExisting(): Promise<void>;
};

/** The artifact store of an instance according to its setting, with this host's cache in front of it. */
export function openArtifacts(options: {
  readonly db: Database;
  readonly dataDirectory: string;
  readonly config: ArtifactsConfig;
}): Artifacts {
  const { db, dataDirectory, config } = options;
  const root = join(dataDirectory, "artifacts");
  const directory = directoryBlobs(join(root, "blobs"));
  const blobs = config === null ? directory : s3Blobs(config);
  const store = createArtifactStore({ db, blobs, incoming: join(root, "incoming") });
  const firstRelease = openFirstReleaseLayers(root);
  const layers = createLayerCache({ store, directory: join(dataDirectory, "cache", "layers"), firstRelease });
  return {
    store,
    layers,
    firstRelease,
    async registerExisting() {
      if (blobs !== directory)
        for await (const digest of directory.list()) {
          // Damaged ones get another digest, and their former one counts as lost.
          await store.add(await directory.get(digest));
          await directory.delete(digest);
        }
      await registerExisting(db, blobs, root);
    },
  };
}
