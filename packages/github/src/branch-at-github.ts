import type { BranchAtSource, BranchQuestion, PullRequestAtGitHub, RepositoryAddress } from "@towpath/core/ports";
import type { Commit } from "@towpath/core/projects/project/schema";
import { pullRequestOfForkBranch } from "@towpath/core/sources/webhook";
import type { GitHub } from "./contract.ts";
import { isGitHubError } from "./errors.ts";
import type { GitHubRepository } from "./github.schema.ts";

type Client = Pick<
  GitHub,
  "branch" | "changedFiles" | "commit" | "pullRequest" | "pullRequestsFrom" | "repositoryById"
>;

/**
 * GitHub's answer about a branch, through the first installation that can read the repository. `no-access` if the App
 * has no access; every other failure throws.
 */
export async function branchAtGitHub(
  github: Client,
  { installationIds, repositoryId, branch, since }: BranchQuestion,
): Promise<BranchAtSource> {
  for (const installationId of installationIds) {
    const repository = await nullWithoutAccess(() => github.repositoryById(installationId, repositoryId));
    if (!repository) continue;
    const [owner = "", name = ""] = repository.full_name.split("/");
    const address = { installationId, owner, name };
    const pullRequest = pullRequestOfForkBranch(branch);
    if (pullRequest !== null) return askAboutFork(github, { address, repository, number: pullRequest });
    const head = await headOf(github, address, branch);
    if (!head) await assertNotRenamed(github, installationId, repository);
    // The default branch never ends, even when pull requests from it are closed.
    const needsPullRequests = head !== null && branch !== repository.default_branch;
    const { full_name: fullName, private: isPrivate, default_branch: defaultBranch } = repository;
    return {
      kind: "seen",
      github: { installationId, fullName, private: isPrivate },
      defaultBranch,
      head,
      changedPaths: since !== null && head !== null ? await github.changedFiles(address, since, head.sha) : null,
      pullRequests: needsPullRequests ? await pullRequestsOf(github, address, { branch, repositoryId }) : [],
    };
  }
  return { kind: "no-access" };
}

/** Recognizes a fork's pull request by the numbers of both repositories, not by their names. */
async function askAboutFork(
  github: Client,
  of: { readonly address: RepositoryAddress; readonly repository: GitHubRepository; readonly number: number },
): Promise<BranchAtSource> {
  const { address, repository, number } = of;
  const { full_name: fullName, private: isPrivate, default_branch: defaultBranch } = repository;
  const seen = {
    ...({ kind: "seen", changedPaths: null, defaultBranch } as const),
    github: { installationId: address.installationId, fullName, private: isPrivate },
  };
  const pull = await nullWithoutAccess(() => github.pullRequest(address, number));
  const isOfFork = pull !== null && pull.base.repo.id === repository.id && pull.head.repo?.id !== repository.id;
  if (!isOfFork) return { ...seen, head: null, fork: null, pullRequests: [] };
  const { head, html_url: url, title, user } = pull;
  const isOpen = pull.state === "open";
  const pullRequests = [{ number, url, isOpen, headSha: head.sha }];
  if (!isOpen) return { ...seen, head: null, fork: null, pullRequests };
  const { message, author } = await github.commit(address, head.sha);
  const repo = { repositoryId: head.repo?.id ?? null, repositoryFullName: head.repo?.full_name || null };
  return {
    ...seen,
    head: { sha: head.sha, message, author: author.name || null },
    fork: { ...repo, headBranch: head.ref, author: user?.login ?? "ghost", title },
    pullRequests,
  };
}

/** Null when GitHub lets the App see nothing: the installation is gone, suspended or not granted this repository. */
async function nullWithoutAccess<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  try {
    return await ask();
  } catch (error) {
    if (isGitHubError(error) && ["not_found", "forbidden", "not_configured"].includes(error.code)) return null;
    throw error;
  }
}

/** Null when there is no such branch. */
export async function headOf(
  github: Pick<GitHub, "branch">,
  address: RepositoryAddress,
  branchName: string,
): Promise<Commit | null> {
  try {
    const { name, commit } = await github.branch(address, branchName);
    // For a renamed branch, GitHub answers with the renamed one.
    if (name !== branchName) return null;
    return { sha: commit.sha, message: commit.message, author: commit.author.name || null };
  } catch (error) {
    if (isGitHubError(error, "not_found")) return null;
    throw error;
  }
}

/** A 404 means that the branch is gone only if the repository is still visible under the requested name. */
async function assertNotRenamed(github: Client, installationId: number, repository: GitHubRepository): Promise<void> {
  const now = await github.repositoryById(installationId, repository.id);
  if (now.full_name !== repository.full_name) throw new Error("the repository was renamed while GitHub was asked");
}

async function pullRequestsOf(
  github: Client,
  address: RepositoryAddress,
  of: { readonly branch: string; readonly repositoryId: number },
): Promise<readonly PullRequestAtGitHub[]> {
  // An App without the permission gets no events of pull requests either: then branches alone decide.
  const found = (await nullWithoutAccess(() => github.pullRequestsFrom(address, of.branch))) ?? [];
  return found
    .filter(({ head }) => head.repo?.id === of.repositoryId && head.ref === of.branch)
    .map(({ number, html_url: url, state, head }) => ({ number, url, isOpen: state === "open", headSha: head.sha }));
}
