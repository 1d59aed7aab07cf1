import { type ErrorCode, TowpathError } from "@towpath/core/errors";
import type { RepositoryHost } from "@towpath/core/ports";
import { commitSchema, repositorySchema } from "@towpath/core/project/schema";
import type { GitHub } from "./contract.ts";
import { type GitHubErrorCode, isGitHubError } from "./errors.ts";
import type { GitHubCommit } from "./github.schema.ts";

const codes: Readonly<Record<GitHubErrorCode, ErrorCode>> = {
  not_found: "not_found",
  unauthorized: "conflict",
  forbidden: "conflict",
  rate_limited: "limit_reached",
  name_taken: "conflict",
  conflict: "conflict",
  invalid: "invalid_input",
  unavailable: "upstream_unavailable",
  unexpected: "upstream_unavailable",
  not_configured: "not_configured",
};

/**
 * Runs calls to GitHub and turns their errors into a TowpathError with GitHub's public text. GitHub's "forbidden"
 * concerns GitHub's permissions, not ours, so it must not show as our Access Denied.
 */
export async function withGitHub<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isGitHubError(error)) throw error;
    const waitMs = error.retryAfter === null ? 0 : error.retryAfter.getTime() - Date.now();
    throw new TowpathError(codes[error.code], error.publicText, {
      ...{ cause: error, detail: error.message },
      ...(waitMs > 0 && { retryAfterSeconds: Math.ceil(waitMs / 1000) }),
    });
  }
}

/** Implements core's port on GitHub. */
export function createRepositoryHost(
  gitHub: Pick<GitHub, "repository" | "branch" | "commit" | "fileExists">,
): RepositoryHost {
  return {
    repository: (address) =>
      withGitHub(async () => {
        const { id, full_name: fullName, private: isPrivate, default_branch } = await gitHub.repository(address);
        return repositorySchema.parse({ id, fullName, private: isPrivate, defaultBranch: default_branch });
      }),
    head: (address, branch) =>
      withGitHub(async () => {
        try {
          return commitOf((await gitHub.branch(address, branch)).commit);
        } catch (error) {
          if (isGitHubError(error, "not_found")) return null;
          throw error;
        }
      }),
    commit: (address, sha) => withGitHub(async () => commitOf(await gitHub.commit(address, sha))),
    fileExists: (address, path, sha) => withGitHub(() => gitHub.fileExists(address, path, sha)),
  };
}

const commitOf = ({ sha, message, author }: GitHubCommit) =>
  commitSchema.parse({ sha, message, author: author.name || null });
