import { join } from "node:path";
import { createDirectoryStore } from "./directory-store.ts";
import { createLayerCache, type LayerCache } from "./layer-cache.ts";
import type { ArtifactStore } from "./port.ts";

export { createDirectoryStore } from "./directory-store.ts";
export { createLayerCache, type LayerCache } from "./layer-cache.ts";
export type { ArtifactStore } from "./port.ts";

/** The artifact store of a local instance and this host's cache in front of it, both below TOWPATH_DATA_DIR. */
export function openArtifacts(dataDirectory: string): { readonly store: ArtifactStore; readonly layers: LayerCache } {
  const store = createDirectoryStore(join(dataDirectory, "artifacts"));
  return { store, layers: createLayerCache({ store, directory: join(dataDirectory, "cache", "layers") }) };
}
