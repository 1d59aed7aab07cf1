import { TowpathError } from "@towpath/core/errors";
import type { GitCommitRef, GitReader, SourceWarning } from "@towpath/core/ports";
import { commitShaSchema } from "@towpath/core/projects/project/schema";
import { streamArchive } from "../archive/archive.ts";
import { pointersOf } from "../archive/lfs-files.ts";
import { openCheckout } from "../checkout.ts";
import { hasCommit, listTree } from "../objects.ts";
import { printable } from "../problems.ts";
import { readCommit } from "../read-commit.ts";
import { parseRefs } from "../refs.ts";
import { type GitRun, gitText } from "../run-git.ts";
import { remoteListing, runOn } from "./bare-repository.ts";

/** As of repositories elsewhere. */
const archiveLimits = { maxBytes: 1024 ** 3, timeoutMs: 5 * 60_000 };

/**
 * Reads a stored repository like `createGitRemotes` reads one elsewhere. `find`: its current directory; null: none.
 */
export function readRepository(find: () => Promise<string | null>): GitReader {
  const runFor = async (at: GitCommitRef, signal?: AbortSignal): Promise<GitRun> => {
    const directory = commitShaSchema.safeParse(at.sha).success ? await find() : null;
    if (directory === null) throw gone(at.sha);
    const run = runOn(directory, { ...(signal && { signal }) });
    if (!(await hasCommit(at.sha, run))) throw gone(at.sha);
    return run;
  };
  return {
    async refs() {
      const directory = await find();
      if (directory === null) return { url: null, defaultBranch: null, branches: new Map() };
      return { url: null, ...parseRefs(await remoteListing(directory)) };
    },
    commit: async (at, signal) => readCommit(at.sha, await runFor(at, signal)),
    async checkout(at, signal) {
      const run = await runFor(at, signal);
      return openCheckout(await readCommit(at.sha, run), run.scratch, signal);
    },
    async changedPaths(since, at, signal) {
      const run = await runFor(at, signal);
      const isComparable = commitShaSchema.safeParse(since).success && (await hasCommit(since, run));
      if (!isComparable) return null;
      const text = await gitText(["diff-tree", "-r", "-z", "--name-only", "--no-renames", since, at.sha], run);
      return text.split("\0").filter((path) => path !== "");
    },
    async tarball(at, { warn, signal }) {
      const run = await runFor(at, signal);
      await warnOfMissing(at.sha, run, warn, signal);
      return streamArchive(at.sha, run.scratch, { ...archiveLimits, signal });
    },
  };
}

const gone = (sha: string) =>
  new TowpathError(
    "not_found",
    `The repository no longer has commit ${sha.slice(0, 7)}: the branch's history was rewritten, or the commit was never pushed. Build the branch's newest commit.`,
  );

const maxListed = 20;

/** Nothing is fetched from elsewhere for a repository of this instance. */
async function warnOfMissing(
  sha: string,
  run: GitRun,
  warn: (warning: SourceWarning) => void,
  signal: AbortSignal,
): Promise<void> {
  const entries = await listTree(sha, run);
  const listed = (paths: readonly string[]) => {
    const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : "";
    return `${paths.slice(0, maxListed).map(printable).join(", ")}${more}`;
  };
  const links = entries.filter(({ mode }) => mode === "160000").map(({ path }) => path);
  if (links.length > 0) {
    const detail = `Submodules of repositories of this instance are not fetched. Commit their files instead: ${listed(links)}.`;
    warn({ title: links.length === 1 ? "A submodule is missing" : `${links.length} submodules are missing`, detail });
  }
  const pointers = await pointersOf(entries, run.scratch, signal);
  if (pointers.length > 0) {
    const title =
      pointers.length === 1 ? "A file of Git LFS is missing" : `${pointers.length} files of Git LFS are missing`;
    const paths = pointers.map(({ path }) => path);
    warn({
      title,
      detail: `This instance stores no files of Git LFS. Only the pointer is there for ${listed(paths)}.`,
    });
  }
}
