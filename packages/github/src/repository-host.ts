import { type ErrorCode, TowpathError } from "@towpath/core/errors";
import type { GitCommitRef, GitReader, RepositoryAddress, RepositoryHost } from "@towpath/core/ports";
import { commitSchema, repositorySchema } from "@towpath/core/projects/project/schema";
import { atHost } from "@towpath/core/sources/github-connection/numbers";
import { branchAtGitHub, headOf } from "./branch-at-github.ts";
import type { GitHubConnections } from "./connections.ts";
import { type GitHubErrorCode, isGitHubError } from "./errors.ts";
import type { GitHubCommit } from "./github.schema.ts";
import { webhooksMayArrive } from "./webhooks-arrive.ts";

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
      cause: error,
      detail: error.message,
      ...(waitMs > 0 && { retryAfterSeconds: Math.ceil(waitMs / 1000) }),
    });
  }
}

type Calls = Omit<GitHubConnections, "all" | "forget" | "preferred">;

/**
 * Implements core's port on GitHub.
 *
 * @param instanceUrl the dashboard's, which gets the webhooks
 */
export function createRepositoryHost(gitHub: Calls, instanceUrl: string): RepositoryHost {
  return {
    repository: (address) =>
      withGitHub(async () => {
        const { id, full_name: fullName, private: isPrivate, default_branch } = await gitHub.repository(address);
        return repositorySchema.parse({ id, fullName, private: isPrivate, defaultBranch: default_branch });
      }),
    open: ({ repositoryId, ...address }) => readerOf(gitHub, address, repositoryId),
    branch: (question) => withGitHub(() => branchAtGitHub(gitHub, question)),
    heads: (address, etag) => withGitHub(() => gitHub.heads(address, etag)),
    async mayArrive(installationId) {
      const found = await gitHub.find(atHost(installationId).connection);
      return found === null || webhooksMayArrive(found.github.config.url, instanceUrl);
    },
    installation: (id) =>
      withGitHub(async () => {
        try {
          const { account, suspended_at: suspendedAt } = await gitHub.installation(id);
          return { kind: "installed", accountLogin: account.login, isSuspended: suspendedAt !== null };
        } catch (error) {
          if (isGitHubError(error, "not_found")) return { kind: "gone" };
          throw error;
        }
      }),
  };
}

function readerOf(gitHub: Calls, address: RepositoryAddress, repositoryId: number): GitReader {
  const commit = ({ sha }: GitCommitRef) => withGitHub(async () => commitOf(await gitHub.commit(address, sha)));
  const headsOf = async (only: string | undefined): Promise<ReadonlyMap<string, string>> => {
    if (only === undefined) return (await gitHub.heads(address, null))?.heads ?? new Map();
    const head = await headOf(gitHub, address, only);
    return new Map(head && [[only, head.sha]]);
  };
  return {
    refs: (only) =>
      withGitHub(async () => {
        const [{ default_branch: defaultBranch }, branches] = await Promise.all([
          gitHub.repository(address),
          headsOf(only),
        ]);
        return { url: null, defaultBranch, branches };
      }),
    commit,
    checkout: async (at) => ({
      commit: await commit(at),
      paths: () => withGitHub(async () => (await gitHub.listFiles(address, at.sha)).files.map(({ path }) => path)),
      has: (path) => withGitHub(() => gitHub.fileExists(address, path, at.sha)),
      read: (path) => withGitHub(() => gitHub.readFile(address, path, at.sha)),
      close: async () => {},
    }),
    changedPaths: (since, { sha }) => withGitHub(() => gitHub.changedFiles(address, since, sha)),
    tarball: ({ sha }, { signal }) => withGitHub(() => gitHub.tarball({ ...address, repositoryId, sha }, signal)),
  };
}

const commitOf = ({ sha, message, author }: GitHubCommit) =>
  commitSchema.parse({ sha, message, author: author.name || null });
