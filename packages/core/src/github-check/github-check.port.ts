import type { RepositoryAddress } from "../ports/index.ts";
import type { CheckProblem } from "./github-check.store.ts";

/**
 * Heads of a repository's branches, and the ETag of the answer. `etag`: of an earlier one; null is returned while that is
 * still so.
 *
 * @throws TowpathError `not_found`, `conflict`; `limit_reached`, with the time to wait; `upstream_unavailable`
 */
type AskHeads = (
  address: RepositoryAddress,
  etag: string | null,
) => Promise<{ readonly heads: ReadonlyMap<string, string>; readonly etag: string | null } | null>;

/** How a process reaches GitHub, and whether GitHub reaches this instance. */
export type FollowsGitHub = {
  readonly ask: AskHeads;
  /** Whether webhooks of an installation's host can arrive at all; takes the installation's number. */
  readonly mayArrive: (installationId: number) => Promise<boolean>;
};

/** How pushes to a project's repository become known. */
export type GitHubCheckView = {
  /** null: not asked yet. */
  readonly checkedAt: string | null;
  /** null: none has come yet. */
  readonly webhookAt: string | null;
  /**
   * Why webhooks don't tell of pushes: `unreachable`, GitHub can't reach this instance; `missed`, a push was found of which
   * none came. null: nothing speaks against them, and asking is rare.
   */
  readonly withoutWebhooks: "unreachable" | "missed" | null;
  /** Why the last check failed. */
  readonly problem: CheckProblem | null;
};
