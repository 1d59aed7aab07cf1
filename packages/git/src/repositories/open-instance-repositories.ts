import { join } from "node:path";
import type { ArtifactStore } from "@towpath/artifacts";
import { TowpathError } from "@towpath/core/errors";
import type { Database } from "@towpath/db";
import type { AddressPolicy } from "@towpath/egress";
import { bundleStorage } from "./bundles/bundle-storage.ts";
import type { RepositoriesKind } from "./config.ts";
import { directoryStorage } from "./directory-storage.ts";
import { type Repositories, repositoriesIn } from "./repositories.ts";
import type { RepositoryStorage } from "./storage.ts";

type Options = {
  readonly kind: RepositoriesKind;
  readonly dataDirectory: string;
  readonly db: Database;
  readonly store: ArtifactStore;
  readonly onProblem: (error: unknown) => void;
  /** Maximum size of a push; absent in processes without pushes. Default: 2 GB. */
  readonly maxPushBytes?: number;
  /** Allowed addresses to push repositories to; absent in processes that push none. Default: public addresses. */
  readonly policy?: AddressPolicy;
};

/**
 * Repositories of this instance, in the storage that its setting names (SRC-3): decided only here. The first call moves
 * repositories from the storage of an earlier setting.
 */
export function openInstanceRepositories(options: Options): Repositories {
  const { kind, dataDirectory, db, store, ...limits } = options;
  const directory = directoryStorage(join(dataDirectory, "repositories"));
  const cacheDirectory = join(dataDirectory, "cache", "repositories");
  const bundles = bundleStorage({ db, store, cacheDirectory, scratchDirectory: join(dataDirectory, "git") });
  const [chosen, other] = kind === "bundles" ? [bundles, directory] : [directory, bundles];
  let moving: Promise<ReadonlyMap<string, unknown>> | null = null;
  return repositoriesIn(async (id) => {
    moving ??= moveRepositories(other, chosen);
    const left = await moving.catch((error: unknown) => {
      moving = null;
      throw error;
    });
    if (id !== undefined && left.has(id)) throw left.get(id);
    return chosen;
  }, limits);
}

/** Moves all repositories. Returns those that failed, with the reason; they stay where they are. */
async function moveRepositories(from: RepositoryStorage, to: RepositoryStorage): Promise<ReadonlyMap<string, unknown>> {
  const left = new Map<string, unknown>();
  for (const id of await from.list()) {
    try {
      const directory = await from.read(id);
      if (directory === null) continue;
      if (!(await to.adopt(id, directory))) throw storedTwice(id);
      await from.remove(id);
    } catch (error) {
      // Its row is gone, or another process of this machine has moved it.
      const isGone = error instanceof TowpathError && error.code === "not_found";
      if (!isGone && (await from.read(id).catch(() => id)) !== null) left.set(id, error);
    }
  }
  return left;
}

const storedTwice = (id: string) =>
  new TowpathError(
    "internal",
    `The repository is stored twice, in the data directory and in the artifact store, with different commits. Ask the operator to remove one: repositories/${id}.git, or the row ${id} of repository_bundles.`,
  );
