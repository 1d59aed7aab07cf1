const maxCached = 1000;

/** Reads rows by a key; while the database is unavailable, returns what it read before, so that servers can start. */
export function cachingReader<Row>(
  read: (key: string) => Promise<Row | null>,
  onError: (error: unknown) => void,
): (key: string) => Promise<Row | null> {
  const cache = new Map<string, Row>();
  return async (key) => {
    let found: Row | null;
    try {
      found = await read(key);
    } catch (error) {
      const earlier = cache.get(key);
      if (earlier === undefined) throw error;
      onError(error);
      return earlier;
    }
    cache.delete(key);
    if (found !== null) cache.set(key, found);
    const oldest = cache.keys().next().value;
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest);
    return found;
  };
}
