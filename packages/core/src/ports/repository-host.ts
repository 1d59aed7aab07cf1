import { notFound, TowpathError } from "../errors/index.ts";
import type { Commit, Repository } from "../projects/project/project.schema.ts";
import type { GitReader } from "./source.ts";

/** A repository as one installation of the GitHub App sees it. Tokens created for it can access only this repository. */
export type RepositoryAddress = { readonly installationId: number; readonly owner: string; readonly name: string };

/**
 * Hosts repositories: GitHub. Calls throw TowpathError with a public text about what the host rejected, `limit_reached`
 * with the time to wait, `upstream_unavailable`, or `not_configured` on an instance without a GitHub App.
 */
export type RepositoryHost = {
  /** @throws TowpathError `not_found` for a repository that the installation can't read */
  repository(address: RepositoryAddress): Promise<Repository>;
  /** Reads it, and asks nothing yet. */
  open(of: RepositoryAddress & { readonly repositoryId: number }): GitReader;
  /** A branch's state; `no-access` when none of the installations can read the repository. */
  branch(question: BranchQuestion): Promise<BranchAtSource>;
  /**
   * Heads of a repository's branches, and the ETag of the answer. `etag`: of an earlier one; null is returned while that is
   * still so.
   */
  heads(address: RepositoryAddress, etag: string | null): Promise<HeadsAtHost | null>;
  /** Whether webhooks of an installation's host can arrive at this instance at all. */
  mayArrive(installationId: number): Promise<boolean>;
  /** How an installation is now. */
  installation(installationId: number): Promise<InstallationAtGitHub>;
};

export type HeadsAtHost = { readonly heads: ReadonlyMap<string, string>; readonly etag: string | null };

export type InstallationAtGitHub =
  /** The App was removed from the account. GitHub never reuses installation ids. */
  | { readonly kind: "gone" }
  | { readonly kind: "installed"; readonly accountLogin: string; readonly isSuspended: boolean };

export type BranchQuestion = {
  /** Those to try, in order, without suspended ones. */
  readonly installationIds: readonly number[];
  readonly repositoryId: number;
  /** Or the name that stands for a pull request from a fork (`pullRequestOfForkBranch`). */
  readonly branch: string;
  /** A commit to compare the head with; null: not needed. */
  readonly since: string | null;
};

export type PullRequestAtGitHub = {
  readonly number: number;
  readonly url: string;
  readonly isOpen: boolean;
  /** Head commit when the pull request was last open. */
  readonly headSha: string;
};

/** Where a pull request from another repository comes from. */
export type ForkAtGitHub = {
  /** null: the fork was deleted. */
  readonly repositoryId: number | null;
  readonly repositoryFullName: string | null;
  readonly headBranch: string;
  /** Login of who opened the pull request. */
  readonly author: string;
  readonly title: string;
};

/** A branch's state at the host of its repository. */
export type BranchAtSource =
  /**
   * The repository can't be read, so the branch's state is unknown: none of the organization's installations has access,
   * or the host of a Git URL refuses.
   */
  | { readonly kind: "no-access" }
  | {
      readonly kind: "seen";
      /** How GitHub's repository is called, and the installation that can read it; null for a Git URL. */
      readonly github: {
        readonly installationId: number;
        readonly fullName: string;
        readonly private: boolean;
      } | null;
      /** The branch that goes live. */
      readonly defaultBranch: string;
      /** null: the branch is gone, or `withoutPreview`. */
      readonly head: Commit | null;
      /** The branch exists, but the project has no previews. */
      readonly withoutPreview?: boolean;
      /**
       * Files that differ between the head and the commit of the question; null when it named none, and when the host
       * can't compare them, because it has lost that commit or the repository is too large.
       */
      readonly changedPaths: readonly string[] | null;
      /** For a pull request from a fork, whose head is null unless it is open; absent for a branch of the repository. */
      readonly fork?: ForkAtGitHub | null;
      /** From this branch of the repository itself, not of forks; or the one that the branch stands for. */
      readonly pullRequests: readonly PullRequestAtGitHub[];
    };

/** @throws TowpathError `not_found` for a name that isn't owner/name */
export function addressOf(installationId: number, fullName: string): RepositoryAddress {
  const [owner, name, ...more] = fullName.split("/");
  if (!owner || !name || more.length > 0) throw notFound("repository");
  return { installationId, owner, name };
}

export const gitHubNotConfigured = () =>
  new TowpathError(
    "not_configured",
    "GitHub is not set up on this instance. Ask the operator to connect a GitHub App.",
  );
