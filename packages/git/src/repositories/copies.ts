import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ArtifactStore } from "@towpath/artifacts";
import type { Database } from "@towpath/db";
import { allRefs, directoryOf, ensureRepository, gitOn, headBranch } from "./bare-repository.ts";
import { createBundle, unpackBundle } from "./bundles/bundle.ts";
import { bundleStorage } from "./bundles/bundle-storage.ts";
import { directoryStorage } from "./directory-storage.ts";

/** A repository without its objects. */
export type CopiedRepository = {
  /** The branch that HEAD names. */
  readonly head: string;
  /** Full names → object ids. Empty: there is no bundle. */
  readonly refs: Readonly<Record<string, string>>;
};

type Options = { readonly dataDirectory: string; readonly db: Database; readonly store: ArtifactStore };

/**
 * Copies repositories of this instance, also while people push to them. Unlike `openInstanceRepositories` it needs no
 * setting and moves nothing: a repository is read from where it is.
 */
export function openRepositoryCopies({ dataDirectory, db, store }: Options) {
  const directories = directoryStorage(join(dataDirectory, "repositories"));
  const cacheDirectory = join(dataDirectory, "cache", "repositories");
  const bundles = bundleStorage({ db, store, cacheDirectory, scratchDirectory: join(dataDirectory, "git") });
  return {
    /**
     * Writes all of its objects to `file` as a git bundle. Null: it doesn't exist.
     *
     * @throws TowpathError when its commits are on another machine, or damaged
     */
    async copy(id: string, file: string): Promise<CopiedRepository | null> {
      const directory = (await directories.read(id)) ?? (await bundles.read(id));
      return directory === null ? null : bundleOf(directory, file);
    },
  };
}

/** A branch that is deleted meanwhile fails one attempt. */
const maxAttempts = 5;

async function bundleOf(directory: string, file: string): Promise<CopiedRepository> {
  const head = await headBranch(directory);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const refs = Object.keys(await allRefs(directory));
      const hasObjects = await createBundle(directory, { file, refs, known: [] });
      // As the bundle has them: branches may have moved since they were listed.
      return { head, refs: hasObjects ? await refsIn(directory, file) : {} };
    } catch (error) {
      if (attempt === maxAttempts) throw error;
    }
  }
}

async function refsIn(directory: string, file: string): Promise<CopiedRepository["refs"]> {
  const text = await gitOn(directory, ["bundle", "list-heads", file]);
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))]));
}

/**
 * Makes a repository again, in the directory of repositories `parent`.
 *
 * @param bundle the file; null for one without objects
 */
export async function restoreRepository(
  parent: string,
  { id, head, refs, bundle }: CopiedRepository & { readonly id: string; readonly bundle: string | null },
): Promise<void> {
  const directory = directoryOf(parent, id);
  await ensureRepository(directory, head);
  if (bundle === null) return;
  await unpackBundle(directory, bundle);
  const lines = Object.entries(refs).map(([name, sha]) => `${sha} ${name}\n`);
  await writeFile(join(directory, "packed-refs"), lines.join(""));
  // All that the refs lead to is there.
  await gitOn(directory, ["fsck", "--connectivity-only", "--no-dangling"], { timeoutMs: 20 * 60_000 });
}
