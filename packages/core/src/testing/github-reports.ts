import type { CheckReport, CommentReport, DeploymentReport, TellGitHub } from "../report/index.ts";

type Kept<Report> = Report & { readonly id: number };

/** What a repository at GitHub shows of what it was told: each by its id, as it is now. */
export class ToldGitHub implements TellGitHub {
  readonly checks = new Map<number, Kept<CheckReport>>();
  readonly deployments = new Map<number, Kept<DeploymentReport>>();
  readonly comments = new Map<number, Kept<CommentReport>>();
  /** How often it was told anything. */
  calls = 0;
  /** Awaited before each call, as GitHub takes its time. */
  before: () => Promise<void> = async () => {};
  #ids = 0;

  check: TellGitHub["check"] = (_to, report, known) => this.#keep(this.checks, report, known);
  deployment: TellGitHub["deployment"] = (_to, report, known) => this.#keep(this.deployments, report, known);
  comment: TellGitHub["comment"] = (_to, report, known) => this.#keep(this.comments, report, known);

  /** The newest check of a commit. */
  checkOf = (sha: string) => [...this.checks.values()].findLast((each) => each.sha === sha);
  get stateOf(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.deployments.values()].map(({ sha, state }) => [sha, state]));
  }

  async #keep<Report>(all: Map<number, Kept<Report>>, report: Report, known: number | null): Promise<number> {
    this.calls++;
    await this.before();
    const id = known !== null && all.has(known) ? known : ++this.#ids;
    all.set(id, { ...report, id });
    return id;
  }
}
