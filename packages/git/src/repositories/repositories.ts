import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { InstanceRepositories } from "@towpath/core/ports";
import { type ArchiveLimits, defaultArchiveLimits } from "./archive-entry.ts";
import {
  asStoreProblem,
  directoryOf,
  ensureRepository,
  isStored,
  listRefs,
  packObjects,
  setHead,
} from "./bare-repository.ts";
import { commitArchive } from "./commit-archive.ts";
import { pushRepository } from "./push.ts";
import { readRepository } from "./reader.ts";
import { parseGitRequest, type ServeOptions, serveRepository } from "./serve.ts";

export type RepositoriesOptions = {
  /** Of all repositories; it need not exist. */
  readonly directory: string;
  /** Default: 2 GB. */
  readonly maxPushBytes?: number;
  readonly archiveLimits?: ArchiveLimits;
};

type ServeRequest = Pick<ServeOptions, "asked" | "onPush" | "defaultBranch"> & { readonly id: string };

export type Repositories = InstanceRepositories & {
  readonly parseGitRequest: typeof parseGitRequest;
  /** Answers a request of git's client, whose permission the caller has checked. */
  serve(request: Request, options: ServeRequest): Promise<Response>;
  /** Ids of all that are stored. */
  list(): Promise<readonly string[]>;
  /**
   * Removes those that nothing changed in since then, unless they are `known`, and what killed processes left unfinished.
   * Returns how many.
   */
  sweep(known: ReadonlySet<string>, unchangedSince: Date): Promise<number>;
  /** Packs its objects if more than so many are loose (default: 1,000), and removes those that nothing leads to. */
  pack(id: string, looseObjects?: number): Promise<void>;
};

const defaultMaxPushBytes = 2 * 1024 ** 3;
const named = /^([0-9a-f-]{36})\.git$/;

/** Repositories of this instance, as bare repositories in a directory that web and worker share (SRC-3). */
export function openRepositories(options: RepositoriesOptions): Repositories {
  const { directory, maxPushBytes = defaultMaxPushBytes, archiveLimits = defaultArchiveLimits } = options;
  const of = (id: string) => directoryOf(directory, id);
  return {
    parseGitRequest,
    create: (id, defaultBranch) => ensureRepository(of(id), defaultBranch),
    async remove(id) {
      // Out of the way at once: a clone that runs meanwhile ends, and no push finds half a repository.
      const removed = join(directory, `${id}.${randomUUID()}.removed`);
      if (!(await isStored(of(id)))) return;
      await rename(of(id), removed);
      await rm(removed, { recursive: true, force: true, maxRetries: 3 });
    },
    open: (id) => readRepository(of(id)),
    async setDefaultBranch(id, branch) {
      await ensureRepository(of(id), branch);
      await setHead(of(id), branch);
    },
    async commitFiles(id, files, signal) {
      await ensureRepository(of(id), files.branch);
      return commitArchive(of(id), files, archiveLimits, signal).catch((error: unknown) => {
        throw asStoreProblem(error);
      });
    },
    listRefs: (id) => listRefs(of(id)),
    push: (id, remote) => pushRepository(of(id), remote, directory),
    serve: (request, { id, ...more }) => serveRepository(request, { ...more, directory: of(id), maxPushBytes }),
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
  };
}
