import type { Commit } from "@towpath/core/project/schema";
import { type AskGitHub, type PullRequestAtGitHub, syncBranch } from "@towpath/core/webhook";
import { type GitHubRepository, isGitHubError, type RepositoryAddress } from "@towpath/github";
import { jobContext, type Services } from "../services.ts";

/** Brings a branch to where GitHub says it is. A throw (GitHub or the database is away) gives the job back. */
export async function syncWithGitHub(
  services: Services,
  target: { readonly projectId: string; readonly branch: string },
): Promise<void> {
  const ctx = jobContext(services, "branch.sync");
  const settled = await syncBranch({ ctx, input: { ...target, ask: askGitHub(services.github) } });
  services.log.info({ ...target, ...settled }, "branch synced with GitHub");
}

type Client = Services["github"];

/**
 * GitHub's answer about a branch, through the first installation that reaches the repository. Whatever says that the
 * App is kept out is `no-access`; every other failure throws.
 */
export const askGitHub =
  (github: Client): AskGitHub =>
  async ({ installationIds, repositoryId, branch }) => {
    for (const installationId of installationIds) {
      const repository = await orNothing(() => github.repositoryById(installationId, repositoryId));
      if (!repository) continue;
      const [owner = "", name = ""] = repository.full_name.split("/");
      const address = { installationId, owner, name };
      const head = await headOf(github, address, branch);
      if (!head) await requireStill(github, installationId, repository);
      // The default branch never ends, whatever becomes of pull requests from it.
      const asksPulls = head !== null && branch !== repository.default_branch;
      const { full_name: fullName, private: isPrivate, default_branch: defaultBranch } = repository;
      return {
        kind: "seen",
        installationId,
        repository: { fullName, private: isPrivate, defaultBranch },
        head,
        pullRequests: asksPulls ? await pullRequestsOf(github, address, { branch, repositoryId }) : [],
      };
    }
    return { kind: "no-access" };
  };

/** null: GitHub lets the App see nothing here. The installation is gone or suspended, or does not reach so far. */
async function orNothing<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  try {
    return await ask();
  } catch (error) {
    if (isGitHubError(error, "not_found") || isGitHubError(error, "forbidden")) return null;
    throw error;
  }
}

async function headOf(github: Client, address: RepositoryAddress, branchName: string): Promise<Commit | null> {
  try {
    const { name, commit } = await github.branch(address, branchName);
    // For a renamed branch GitHub answers with the one of its new name.
    return name === branchName
      ? { sha: commit.sha, message: commit.message, author: commit.author.name || null }
      : null;
  } catch (error) {
    if (isGitHubError(error, "not_found")) return null;
    throw error;
  }
}

/** A branch is gone only when the repository can still be seen, under the name that was asked for. */
async function requireStill(github: Client, installationId: number, repository: GitHubRepository): Promise<void> {
  const again = await github.repositoryById(installationId, repository.id);
  if (again.full_name !== repository.full_name) throw new Error("the repository was renamed while it was asked about");
}

async function pullRequestsOf(
  github: Client,
  address: RepositoryAddress,
  of: { readonly branch: string; readonly repositoryId: number },
): Promise<readonly PullRequestAtGitHub[]> {
  // An App without the permission gets no events of pull requests either: then branches alone decide.
  const found = (await orNothing(() => github.pullRequestsFrom(address, of.branch))) ?? [];
  return found
    .filter(({ head }) => head.repo?.id === of.repositoryId && head.ref === of.branch)
    .map(({ number, html_url: url, state, head }) => ({ number, url, isOpen: state === "open", headSha: head.sha }));
}
