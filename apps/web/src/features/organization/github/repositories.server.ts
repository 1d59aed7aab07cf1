import { type GitHubRepository, isGitHubError, withGitHub } from "@towpath/github";
import { gitHub } from "~/compose.server.ts";
import { repositoryProposals } from "./repository-proposals.ts";

// The caller has checked that the installation may be used.

/** GitHub may send a token for cloning: it stays on the server. */
const withoutToken = ({ temp_clone_token: _secret, ...repository }: GitHubRepository) => repository;

/** A page of an installation's repositories, up to 100. */
export async function listRepositories(of: { readonly installationId: number; readonly page: number }) {
  const { items, nextPage } = await withGitHub(() => gitHub().repositories(of.installationId, of.page));
  return { data: items.map(withoutToken), nextPage };
}

type BranchOfRepository = {
  readonly installationId: number;
  readonly owner: string;
  readonly name: string;
  /** Default: the repository's default branch. */
  readonly branch?: string | undefined;
};

/** A repository and one of its branches; `branch` is null if it is empty or doesn't exist. */
export async function readBranchAndRepository({ branch: requested, ...address }: BranchOfRepository) {
  return withGitHub(async () => {
    const repository = withoutToken(await gitHub().repository(address));
    const name = requested ?? repository.default_branch;
    const [branch, tree] = await Promise.all([
      unlessMissing(gitHub().branch(address, name)),
      unlessMissing(gitHub().listFiles(address, name)),
    ]);
    const paths = tree?.files.map(({ path }) => path) ?? [];
    const proposals = await repositoryProposals(paths, (path) => gitHub().readFile(address, path, name));
    return { repository, branch, ...proposals };
  });
}

function unlessMissing<Value>(work: Promise<Value>): Promise<Value | null> {
  return work.catch((error: unknown) => {
    if (isGitHubError(error, "not_found")) return null;
    throw error;
  });
}
