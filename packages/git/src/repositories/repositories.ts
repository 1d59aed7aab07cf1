import { notFound } from "@towpath/core/errors";
import type { FileChanges, InstanceRepositories } from "@towpath/core/ports";
import type { Commit } from "@towpath/core/projects/project/schema";
import { type AddressPolicy, createAddressPolicy } from "@towpath/egress";
import { changeStored } from "../edit/change-stored.ts";
import { type ArchiveLimits, defaultArchiveLimits } from "./archive-entry.ts";
import { asStoreProblem, listRefs, setHead } from "./bare-repository.ts";
import { bundleRepository } from "./bundle-repository.ts";
import { commitArchive } from "./commit-archive.ts";
import { directoryStorage } from "./directory-storage.ts";
import { pushRepository } from "./push.ts";
import { readRepository } from "./reader.ts";
import { parseGitRequest, type ServeOptions, serveRepository } from "./serve.ts";
import type { RepositoryStorage } from "./storage.ts";

type Limits = {
  /** Default: 2 GB. */
  readonly maxPushBytes?: number;
  readonly archiveLimits?: ArchiveLimits;
  /** Where they may be pushed to. Default: public addresses. */
  readonly policy?: AddressPolicy;
  /** Called with errors that the client sees only as a general text. */
  readonly onProblem?: (error: unknown) => void;
};

type ServeRequest = Pick<ServeOptions, "id" | "organizationId" | "asked" | "onPush" | "defaultBranch">;

export type Repositories = InstanceRepositories & {
  readonly parseGitRequest: typeof parseGitRequest;
  /** See `GitFiles.change`. */
  changeFiles(id: string, changes: FileChanges, signal?: AbortSignal): Promise<Commit>;
  /** Where it can be read; null for one that isn't stored. */
  directoryOf(id: string): Promise<string | null>;
  /** Answers a request of git's client, whose permission the caller has checked. */
  serve(request: Request, options: ServeRequest): Promise<Response>;
  /** Ids of all that are stored. */
  list(): Promise<readonly string[]>;
  /**
   * Removes repositories that aren't `known` and haven't changed since `unchangedSince`, and leftovers of killed
   * processes. Returns how many.
   */
  sweep(known: ReadonlySet<string>, unchangedSince: Date): Promise<number>;
  /**
   * Packs its objects if more than `looseObjects` (default: 1,000) are loose, and removes unreachable ones; or bundles
   * it into one if it has many bundles.
   */
  pack(id: string, looseObjects?: number): Promise<void>;
};

const defaultMaxPushBytes = 2 * 1024 ** 3;

/** Repositories of this instance in a directory, which need not exist (SRC-3). */
export function openRepositories({ directory, ...limits }: Limits & { readonly directory: string }): Repositories {
  const storage = directoryStorage(directory);
  return repositoriesIn(async () => storage, limits);
}

/** `open` opens the storage of the repository with this id, or of all. Calls throw its errors. */
export function repositoriesIn(open: (id?: string) => Promise<RepositoryStorage>, limits: Limits = {}): Repositories {
  const { maxPushBytes = defaultMaxPushBytes, archiveLimits = defaultArchiveLimits, onProblem = () => {} } = limits;
  const { policy = createAddressPolicy([]) } = limits;
  async function changing<Result>(id: string, branch: string, work: (directory: string) => Promise<Result>) {
    const change = await (await open(id)).change(id, branch);
    try {
      const result = await work(change.directory);
      await change.store();
      return result;
    } catch (error) {
      throw asStoreProblem(error);
    } finally {
      await change.close();
    }
  }
  return {
    parseGitRequest,
    create: async (id, defaultBranch) => (await open(id)).create(id, defaultBranch),
    remove: async (id) => (await open(id)).remove(id),
    open: (id) => readRepository(async () => (await open(id)).read(id)),
    setDefaultBranch: (id, branch) => changing(id, branch, (directory) => setHead(directory, branch)),
    commitFiles: (id, files, signal) =>
      changing(id, files.branch, (directory) => commitArchive(directory, files, archiveLimits, signal)),
    changeFiles: (id, changes, signal) =>
      changing(id, changes.branch, (directory) => changeStored(directory, changes, signal)),
    directoryOf: async (id) => (await open(id)).read(id),
    async listRefs(id) {
      const directory = await (await open(id)).read(id);
      return directory === null ? new Map() : listRefs(directory);
    },
    async bundle(id) {
      const directory = await (await open(id)).read(id);
      return directory === null ? null : bundleRepository(directory);
    },
    async push(id, remote) {
      const directory = await (await open(id)).read(id);
      if (directory === null) throw notFound("repository");
      await pushRepository(directory, remote, policy);
    },
    serve: async (request, options) =>
      serveRepository(request, { ...options, storage: await open(options.id), maxPushBytes, onProblem }),
    list: async () => (await open()).list(),
    sweep: async (known, unchangedSince) => (await open()).sweep(known, unchangedSince),
    pack: async (id, looseObjects) => (await open(id)).pack(id, looseObjects),
  };
}
