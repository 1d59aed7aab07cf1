import type { Context } from "@towpath/core/context";
import { type ErrorCode, notFound, TowpathError } from "@towpath/core/errors";
import { listInstallations } from "@towpath/core/installation";
import type { CommitInput, RepositoryInput } from "@towpath/core/project";
import {
  type GitHub,
  type GitHubCommit,
  type GitHubErrorCode,
  type GitHubRepository,
  isGitHubError,
  type RepositoryAddress,
} from "@towpath/github";
import { services } from "~/compose.server.ts";

/** @throws TowpathError `not_configured` on an instance without a GitHub App and without the local forge. */
export function gitHub(): GitHub {
  const { gitHub: client } = services();
  if (client) return client;
  throw new TowpathError(
    "not_configured",
    "GitHub is not set up on this instance. Ask the operator to connect a GitHub App.",
  );
}

/**
 * @throws TowpathError `not_found` for an installation that the organization has not connected, `conflict` for one that
 * its account's owner has suspended.
 */
export async function requireInstallation(ctx: Context, orgSlug: string, installationId: number): Promise<void> {
  const known = await listInstallations({ ctx, input: { orgSlug } });
  const found = known.find((installation) => installation.installationId === installationId);
  if (!found) throw notFound("GitHub installation");
  if (!found.isSuspended) return;
  const whose = `The owner of the GitHub account ${found.accountLogin}`;
  throw new TowpathError("conflict", `${whose} has suspended Towpath there. They can resume it in the App's settings.`);
}

/** An address that the organization may read; the check comes before any call to GitHub. */
export async function addressOf(
  ctx: Context,
  call: { readonly orgSlug: string } & RepositoryAddress,
): Promise<RepositoryAddress> {
  await requireInstallation(ctx, call.orgSlug, call.installationId);
  return { installationId: call.installationId, owner: call.owner, name: call.name };
}

const codes: Record<GitHubErrorCode, ErrorCode> = {
  not_found: "not_found",
  unauthorized: "conflict",
  forbidden: "conflict",
  rate_limited: "limit_reached",
  name_taken: "conflict",
  conflict: "conflict",
  invalid: "invalid_input",
  unavailable: "upstream_unavailable",
  unexpected: "upstream_unavailable",
};

/**
 * Runs calls to GitHub; what goes wrong there becomes a TowpathError with GitHub's public text. GitHub's "forbidden"
 * is about its own permissions and not about ours, so it must not read as our Access Denied.
 */
export async function withGitHub<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isGitHubError(error)) throw error;
    throw new TowpathError(codes[error.code], error.publicText, { cause: error, detail: error.message });
  }
}

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
