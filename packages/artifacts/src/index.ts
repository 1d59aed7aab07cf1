export { createFolderStore } from "./folder-store.ts";
export { createLayerCache, type LayerCache, type LayerCacheConfig, type StoredLayer } from "./layer-cache.ts";
export { ArtifactError, type ArtifactInfo, type ArtifactStore, digestSchema } from "./port.ts";
