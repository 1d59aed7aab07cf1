import { notFound } from "@towpath/core/errors";
import type { CommitInput, RepositoryInput } from "@towpath/core/project";
import { type GitHubCommit, type GitHubRepository, isGitHubError, type RepositoryAddress } from "@towpath/github";
import { gitHub } from "./github-access.server.ts";
import { withGitHub } from "./github-errors.server.ts";

/** `owner/name` of an installation. @throws TowpathError `not_found` for another form. */
export function repositoryAddress(installationId: number, fullName: string): RepositoryAddress {
  const [owner, name, ...more] = fullName.split("/");
  if (!owner || !name || more.length > 0) throw notFound("repository");
  return { installationId, owner, name };
}

export const toRepositoryInput = (repository: GitHubRepository): RepositoryInput => ({
  id: repository.id,
  fullName: repository.full_name,
  private: repository.private,
  defaultBranch: repository.default_branch,
});

export const toCommitInput = (commit: GitHubCommit): CommitInput => ({
  sha: commit.sha,
  message: commit.message,
  author: commit.author.name || null,
});

/** A repository and the newest commit of its default branch; null as long as nothing was pushed. */
export function repositoryAndHead(
  address: RepositoryAddress,
): Promise<{ repository: RepositoryInput; commit: CommitInput | null }> {
  return withGitHub(async () => {
    const repository = await gitHub().repository(address);
    return { repository: toRepositoryInput(repository), commit: await headOf(address, repository.default_branch) };
  });
}

async function headOf(address: RepositoryAddress, branch: string): Promise<CommitInput | null> {
  try {
    return toCommitInput((await gitHub().branch(address, branch)).commit);
  } catch (error) {
    if (isGitHubError(error, "not_found")) return null;
    throw error;
  }
}
