import { forkBranchName, pullRequestOfForkBranch } from "../delivery/branch/index.ts";
import type { ForkAtGitHub, InstallationAtGitHub, PullRequestAtGitHub, RepositoryHost } from "../ports/index.ts";
import type { WebhookHint } from "../sources/webhook/index.ts";
import { memoryRepositories, shaOf } from "./seed.ts";

/** Message of the error of every question while GitHub is unreachable. */
export const unreachable = "GitHub is unreachable";

/** One repository at GitHub as far as webhooks go: what happens there, what it answers, and what it would deliver. */
export class GitHubModel {
  readonly repositoryId: number;
  readonly installationId: number;
  fullName = "acme/echo";
  defaultBranch = "main";
  /** Every question fails. */
  isUnreachable = false;
  isSuspended = false;
  isInstalled = true;
  /** Branch → name of its newest commit; `shaOf` makes the commit id. */
  readonly heads = new Map<string, string>();
  /** Files that a commit changes, by its name, as seen from any earlier one; null: GitHub can't say. */
  readonly changes = new Map<string, readonly string[]>();
  readonly #pulls: (PullRequestAtGitHub & { readonly branch: string })[] = [];
  /** Pull requests from forks, by number. */
  readonly forks = new Map<number, { commit: string; isOpen: boolean; fork: ForkAtGitHub }>();
  /** What has been sent and not been played yet. Tests take from here in any order, or several times. */
  readonly deliveries: WebhookHint[] = [];
  questions = 0;
  /** Branches that were pushed while the App was suspended, which GitHub has not reported since. */
  readonly missed = new Set<string>();

  constructor(of: { readonly repositoryId: number; readonly installationId: number }) {
    this.repositoryId = of.repositoryId;
    this.installationId = of.installationId;
  }

  push(branch: string, commit: string): void {
    this.heads.set(branch, commit);
    this.#change(branch, (pull) => (pull.isOpen ? { ...pull, headSha: shaOf(commit) } : pull));
    this.#tellBranch(branch, true);
  }

  remove(branch: string): void {
    if (!this.heads.delete(branch)) return;
    this.#change(branch, (pull) => ({ ...pull, isOpen: false }));
    this.#tellBranch(branch, false);
  }

  openPull(branch: string): void {
    const head = this.heads.get(branch);
    if (head === undefined || this.pullsOf(branch).some((pull) => pull.isOpen)) return;
    const number = this.#pulls.length + 1;
    const url = `http://localhost:8090/${this.fullName}/pull/${number}`;
    this.#pulls.push({ number, url, isOpen: true, headSha: shaOf(head), branch });
    this.#tellBranch(branch, true);
  }

  closePull(branch: string): void {
    this.#change(branch, (pull) => ({ ...pull, isOpen: false }));
    this.#tellBranch(branch, false);
  }

  /** A push to a pull request from a fork, or its first one. */
  pushToFork(number: number, commit: string, fork: Partial<ForkAtGitHub> = {}): void {
    const known = this.forks.get(number)?.fork;
    const repository = { repositoryId: 987_654, repositoryFullName: "mallory/echo", headBranch: "main" };
    const of = { ...repository, author: "mallory", title: "Better", ...known, ...fork };
    this.forks.set(number, { commit, isOpen: true, fork: of });
    this.#tellBranch(forkBranchName(number), true);
  }

  closeFork(number: number): void {
    const known = this.forks.get(number);
    if (known) known.isOpen = false;
    this.#tellBranch(forkBranchName(number), false);
  }

  #pullOfFork(number: number): PullRequestAtGitHub {
    const { isOpen = false, commit = "" } = this.forks.get(number) ?? {};
    return { number, url: `http://localhost:8090/${this.fullName}/pull/${number}`, isOpen, headSha: shaOf(commit) };
  }

  rename(fullName: string): void {
    this.fullName = fullName;
    this.#tell({ kind: "repository", repositoryId: this.repositoryId });
  }

  switchDefault(branch: string): void {
    this.defaultBranch = branch;
    this.#tell({ kind: "repository", repositoryId: this.repositoryId });
  }

  /** As GitHub does it, the App hears of this, and of nothing else until it is resumed. */
  suspend(isSuspended: boolean): void {
    this.isSuspended = isSuspended;
    this.deliveries.push({ kind: "installation", installationId: this.installationId });
  }

  pullsOf(branch: string): readonly PullRequestAtGitHub[] {
    return this.#pulls.filter((pull) => pull.branch === branch);
  }

  /** Whether the branch should have a preview: it is there, and no pull request of its commit was closed. */
  shouldLive(branch: string): boolean {
    const head = this.heads.get(branch);
    if (head === undefined) return false;
    const pulls = this.pullsOf(branch);
    return pulls.some((pull) => pull.isOpen) || !pulls.some((pull) => pull.headSha === shaOf(head));
  }

  readonly ask: RepositoryHost["branch"] = async ({ installationIds, repositoryId, branch, since }) => {
    this.questions++;
    if (this.isUnreachable) throw new Error(unreachable);
    const reaches = this.isInstalled && !this.isSuspended && installationIds.includes(this.installationId);
    if (!reaches || repositoryId !== this.repositoryId) return { kind: "no-access" };
    const fork = this.forks.get(pullRequestOfForkBranch(branch) ?? 0);
    const head = fork ? (fork.isOpen ? fork.commit : undefined) : this.heads.get(branch);
    return {
      kind: "seen",
      fork: fork?.fork ?? null,
      github: { installationId: this.installationId, fullName: this.fullName, private: false },
      defaultBranch: this.defaultBranch,
      changedPaths: (since !== null && head !== undefined && this.changes.get(head)) || null,
      head: head === undefined ? null : { sha: shaOf(head), message: head, author: "Ada" },
      pullRequests: fork ? [this.#pullOfFork(pullRequestOfForkBranch(branch) ?? 0)] : this.pullsOf(branch),
    };
  };

  readonly askInstallation = async (): Promise<InstallationAtGitHub> => {
    if (this.isUnreachable) throw new Error(unreachable);
    if (!this.isInstalled) return { kind: "gone" };
    return { kind: "installed", accountLogin: "acme", isSuspended: this.isSuspended };
  };

  readonly host = memoryRepositories({}, { branch: this.ask, installation: this.askInstallation });

  #change(branch: string, how: (pull: PullRequestAtGitHub) => PullRequestAtGitHub): void {
    for (const [index, pull] of this.#pulls.entries()) {
      if (pull.branch === branch) this.#pulls[index] = { ...how(pull), branch };
    }
  }

  #tellBranch(branch: string, mayBeNew: boolean): void {
    if (mayBeNew && this.isSuspended) this.missed.add(branch);
    else if (mayBeNew) this.missed.delete(branch);
    this.#tell({ kind: "branch", repositoryId: this.repositoryId, branch, mayBeNew });
  }

  #tell(hint: WebhookHint): void {
    if (!this.isSuspended && this.isInstalled) this.deliveries.push(hint);
  }
}
