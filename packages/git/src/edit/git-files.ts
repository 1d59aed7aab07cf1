import { TowpathError } from "@towpath/core/errors";
import type { GitCommitRef, GitFiles, GitRemote } from "@towpath/core/ports";
import { commitShaSchema } from "@towpath/core/projects/project/schema";
import { fetchInto } from "../fetch-commits.ts";
import { hasCommit } from "../objects.ts";
import { runOn } from "../repositories/bare-repository.ts";
import type { Repositories } from "../repositories/repositories.ts";
import { type GitRemotesOptions, parseAt, remoteLimits, useRemote } from "../use-remote.ts";
import { changeRemote } from "./change-remote.ts";
import { keptFiles } from "./kept-files.ts";
import { openFiles } from "./open-files.ts";

type Options = GitRemotesOptions & {
  readonly repositories: Pick<Repositories, "changeFiles" | "directoryOf">;
};

/** Edits repositories of this instance where they are stored, and others over a connection (CAP-5). */
export function createGitFiles({ repositories, ...options }: Options): GitFiles {
  const { fetchMs } = remoteLimits(options);
  const use = useRemote(options);
  const kept = keptFiles();

  const openRemote = (remote: GitRemote, at: GitCommitRef) =>
    use(remote, undefined, true, async (scratch, connected) => {
      const { sha } = parseAt(at, connected);
      await fetchInto(at, [sha], connected, scratch, { filter: "blob:limit=1m", timeoutMs: fetchMs });
      return { ...(await openFiles(sha, { scratch })), close: scratch.close };
    });

  return {
    async open(of, at, signal) {
      // The fetch doesn't end with the request of who began it: others may wait for it.
      if ("remote" in of)
        return kept.open(JSON.stringify([of.key, of.remote.url, at.sha]), () => openRemote(of.remote, at));
      const directory = commitShaSchema.safeParse(at.sha).success
        ? await repositories.directoryOf(of.repositoryId)
        : null;
      if (directory === null || !(await hasCommit(at.sha, runOn(directory, { signal })))) throw gone(at.sha);
      return openFiles(at.sha, runOn(directory, { signal }));
    },
    change: (of, changes, signal) =>
      "repositoryId" in of
        ? repositories.changeFiles(of.repositoryId, changes, signal)
        : use(of.remote, signal, false, async (scratch, connection) => {
            parseAt(changes.parent, connection);
            return changeRemote(changes, { scratch, connection, timeoutMs: fetchMs }, signal);
          }),
  };
}

const gone = (sha: string) =>
  new TowpathError("not_found", `The repository no longer has commit ${sha.slice(0, 7)}. Open the branch again.`);
