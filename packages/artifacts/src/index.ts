import { join } from "node:path";
import { createDirectoryStore } from "./directory-store.ts";
import { type FirstReleaseLayers, openFirstReleaseLayers } from "./first-release-layers.ts";
import { createLayerCache, type LayerCache } from "./layer-cache.ts";
import type { ArtifactStore } from "./port.ts";

export { createDirectoryStore } from "./directory-store.ts";
export type { FirstReleaseLayers } from "./first-release-layers.ts";
export { createLayerCache, type LayerCache } from "./layer-cache.ts";
export { ArtifactError, type ArtifactStore } from "./port.ts";

type Artifacts = {
  readonly store: ArtifactStore;
  readonly layers: LayerCache;
  readonly firstRelease: FirstReleaseLayers;
};

/** The artifact store of a local instance and this host's cache in front of it, both below TOWPATH_DATA_DIR. */
export function openArtifacts(dataDirectory: string): Artifacts {
  const root = join(dataDirectory, "artifacts");
  const store = createDirectoryStore(root);
  const firstRelease = openFirstReleaseLayers(root);
  const directory = join(dataDirectory, "cache", "layers");
  return { store, layers: createLayerCache({ store, directory, firstRelease }), firstRelease };
}
