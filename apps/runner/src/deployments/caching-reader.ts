import type { StoredDeployment } from "./deployment.store.ts";

const maxCached = 1000;

/** Reads deployments; while the database is unavailable, returns what it read before, so that servers can start. */
export function cachingReader(
  read: (id: string) => Promise<StoredDeployment | null>,
  onError: (error: unknown) => void,
): (id: string) => Promise<StoredDeployment | null> {
  const cache = new Map<string, StoredDeployment>();
  return async (id) => {
    let found: StoredDeployment | null;
    try {
      found = await read(id);
    } catch (error) {
      const earlier = cache.get(id);
      if (earlier === undefined) throw error;
      onError(error);
      return earlier;
    }
    cache.delete(id);
    if (found !== null) cache.set(id, found);
    const oldest = cache.keys().next().value;
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest);
    return found;
  };
}
