import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { adoptRepository } from "./adopt.ts";
import { directoryOf, ensureRepository, isStored, listRefs, packObjects, syncNames } from "./bare-repository.ts";
import type { RepositoryStorage } from "./storage.ts";

const named = /^([0-9a-f-]{36})\.git$/;

/** Bare repositories in a directory, which need not exist. Git itself stores changes. */
export function directoryStorage(directory: string): RepositoryStorage {
  const of = (id: string) => directoryOf(directory, id);
  return {
    create: (id, defaultBranch) => ensureRepository(of(id), defaultBranch),
    read: async (id) => ((await isStored(of(id))) ? of(id) : null),
    async change(id, defaultBranch) {
      const begun = Date.now();
      await ensureRepository(of(id), defaultBranch);
      return { directory: of(id), store: () => syncNames(of(id), begun), close: async () => {} };
    },
    async remove(id) {
      // Renamed first: a running clone fails, and no push finds half a repository.
      const removed = join(directory, `${id}.${randomUUID()}.removed`);
      if (!(await isStored(of(id)))) return;
      await rename(of(id), removed);
      await rm(removed, { recursive: true, force: true, maxRetries: 3 });
    },
    async list() {
      const names = await readdir(directory).catch(() => []);
      return names.flatMap((name) => named.exec(name)?.[1] ?? []);
    },
    async sweep(known, unchangedSince) {
      let removed = 0;
      for (const name of await readdir(directory).catch(() => [])) {
        const id = named.exec(name)?.[1];
        const path = join(directory, name);
        const changed = await stat(path).catch(() => null);
        if (changed === null || changed.mtime >= unchangedSince || (id !== undefined && known.has(id))) continue;
        await rm(path, { recursive: true, force: true, maxRetries: 3 });
        removed += 1;
      }
      return removed;
    },
    pack: (id, looseObjects = 1000) => packObjects(of(id), looseObjects),
    async adopt(id, from) {
      await adoptRepository(directory, { id, from });
      const [here, there] = [await listRefs(of(id)), await listRefs(from)];
      return here.size === there.size && [...there].every(([name, sha]) => here.get(name) === sha);
    },
  };
}
