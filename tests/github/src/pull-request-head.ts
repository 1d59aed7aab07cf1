import type { ForgeContext } from "./forge.context.ts";
import { copyRefs, repositoryDirectory } from "./git/bare-repository.ts";
import type { PullRequest } from "./state/pull-requests.ts";

/** Copies the head's commits into the base repository, below refs/pull like GitHub, where nobody pushes. */
export async function copyHead(context: ForgeContext, pull: PullRequest, sha: string): Promise<void> {
  if (pull.head_repository_id === null || pull.head_repository_id === pull.repository_id) return;
  const directoryOf = (id: number) => repositoryDirectory(context.directory, id);
  const refspec = `${sha}:refs/pull/${pull.number}/head`;
  await copyRefs(directoryOf(pull.head_repository_id), directoryOf(pull.repository_id), refspec);
}
