import type { OpenedFiles } from "@towpath/core/ports";
import { LRUCache } from "lru-cache";

/** What several callers share, and how many use it at the moment. */
type Kept = { readonly files: OpenedFiles; users: number; isOver: boolean };

const ttlMs = 5 * 60_000;
const maxKept = 16;

/** Keeps files that took a connection to fetch, each until nobody has opened it for five minutes. */
export function keptFiles() {
  const kept = new LRUCache<string, Promise<Kept>>({
    max: maxKept,
    ttl: ttlMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (value) => void value.then(end, () => {}),
  });
  const end = async (each: Kept) => {
    each.isOver = true;
    if (each.users === 0) await each.files.close();
  };
  return {
    /** `fetch`: opens them if nobody has. */
    async open(key: string, fetch: () => Promise<OpenedFiles>): Promise<OpenedFiles> {
      const found = kept.get(key) ?? fetch().then((files) => ({ files, users: 0, isOver: false }));
      if (!kept.has(key)) {
        kept.set(key, found);
        found.catch(() => kept.delete(key));
      }
      const each = await found;
      each.users += 1;
      let isOpen = true;
      return {
        ...each.files,
        close: async () => {
          if (!isOpen) return;
          isOpen = false;
          each.users -= 1;
          if (each.isOver && each.users === 0) await each.files.close();
        },
      };
    },
  };
}
