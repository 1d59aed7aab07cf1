import type { branch, project } from "@towpath/db/schema";
import type { Commit } from "../project/project.schema.ts";
import type { GitSourceRow } from "../source/internal.ts";

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
      /** null: the branch is gone, or `unwanted`. */
      readonly head: Commit | null;
      /** The branch exists, but the project has no previews. */
      readonly unwanted?: boolean;
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

/**
 * Requests a branch's state from GitHub. `installationIds`: those to try, in order, without suspended ones.
 *
 * @throws when GitHub is unavailable; the job is then retried
 */
export type AskGitHub = (question: {
  readonly installationIds: readonly number[];
  readonly repositoryId: number;
  /** Or the name that stands for a pull request from a fork (`pullRequestOfForkBranch`). */
  readonly branch: string;
  /** A commit to compare the head with; null: not needed. */
  readonly since: string | null;
}) => Promise<BranchAtSource>;

/** The branch and its project as they were before the request to the host. */
export type SyncTarget = {
  readonly project: typeof project.$inferSelect;
  readonly branch: typeof branch.$inferSelect;
  /** The project's Git URL; null for another source. */
  readonly git: GitSourceRow | null;
};
