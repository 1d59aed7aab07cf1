import type { StatusHost } from "../../sources/source/git-source.schema.ts";

/** The project's repository, through the installation that reads it. */
export type ReportAddress = { readonly installationId: number; readonly owner: string; readonly name: string };

/** A check run, by GitHub's words for status and conclusion. */
export type CheckReport = {
  readonly sha: string;
  readonly name: string;
  readonly externalId: string;
  readonly detailsUrl: string;
  readonly status: "queued" | "in_progress" | "completed";
  readonly conclusion: "success" | "failure" | "neutral" | "cancelled" | "skipped" | "action_required" | null;
  /** Plain text. */
  readonly title: string;
  /** Markdown. */
  readonly summary: string;
  readonly text: string | null;
  readonly actions: readonly { readonly label: string; readonly description: string; readonly identifier: string }[];
};

export type DeploymentReport = {
  readonly sha: string;
  readonly environment: string;
  readonly transient: boolean;
  readonly description: string;
  /** By which it is found again. */
  readonly key: string;
  readonly state: "queued" | "in_progress" | "success" | "failure";
  readonly logUrl: string;
  readonly environmentUrl: string | null;
};

/** A deployment that is not served any more. */
type EndedDeployment = { readonly description: string; readonly logUrl: string };

export type CommentReport = {
  readonly number: number;
  readonly body: string /** By which it is found again. */;
  readonly mark: string;
};

/** The repository behind a Git URL, at a host whose API takes states of builds, with a token for that. */
export type StatusHook = { readonly kind: StatusHost; readonly url: string; readonly token: string };

export type CommitState = {
  readonly sha: string;
  readonly branch: string;
  /** By which the host tells states of several servers apart. */
  readonly name: string;
  readonly state: "pending" | "success" | "failure" | "canceled";
  /** Plain text of at most 140 characters. */
  readonly description: string;
  readonly buildUrl: string;
};

/**
 * Posts the state of a commit's build. A state that the host has already is not an error.
 *
 * @throws TowpathError `conflict` with a public text when the host refuses it for good; another error when it is unavailable
 */
export type PostState = (to: StatusHook, state: CommitState) => Promise<void>;

/**
 * Reports to GitHub. `known`: the id of what was reported before, which is then changed, or created again if somebody has
 * deleted it there. Each returns the id, or null where the App lacks the permission.
 *
 * @throws when GitHub is unavailable or its rate limit is exceeded; the job is then run again
 */
export type GitHubReporter = {
  check(to: ReportAddress, report: CheckReport, known: number | null): Promise<number | null>;
  deployment(to: ReportAddress, report: DeploymentReport, known: number | null): Promise<number | null>;
  /** Sets a deployment inactive, which GitHub does for none by itself; one that somebody has deleted stays so. */
  endDeployment(to: ReportAddress, id: number, ended: EndedDeployment): Promise<void>;
  comment(to: ReportAddress, report: CommentReport, known: number | null): Promise<number | null>;
};
