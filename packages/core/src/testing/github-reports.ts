import type {
  CheckReport,
  CommentReport,
  DeploymentReport,
  GitHubReporter,
  ReportAddress,
} from "../delivery/report/index.ts";

type Kept<Report> = Report & { readonly id: number; readonly repository: string };

type Ended<Report extends { state: string }> = Omit<Report, "state"> & { readonly state: Report["state"] | "inactive" };

const fullNameOf = ({ owner, name }: ReportAddress) => `${owner}/${name}`;

/** What a repository at GitHub shows of what was reported to it: each by its id, as it is now. */
export class ReportsModel implements GitHubReporter {
  readonly checks = new Map<number, Kept<CheckReport>>();
  readonly deployments = new Map<number, Kept<Ended<DeploymentReport>>>();
  readonly comments = new Map<number, Kept<CommentReport>>();
  /** How often anything was reported. */
  calls = 0;
  /** Awaited before each call, as GitHub takes its time. */
  before: () => Promise<void> = async () => {};
  #ids = 0;

  check: GitHubReporter["check"] = (to, report, known) => this.#keep(to, this.checks, report, known);
  deployment: GitHubReporter["deployment"] = (to, report, known) => this.#keep(to, this.deployments, report, known);
  endDeployment: GitHubReporter["endDeployment"] = async (to, id) => {
    const known = this.deployments.get(id);
    if (known) await this.#keep(to, this.deployments, { ...known, state: "inactive" }, id);
  };
  comment: GitHubReporter["comment"] = (to, report, known) => this.#keep(to, this.comments, report, known);

  /** The newest check of a commit. */
  checkOf = (sha: string) => [...this.checks.values()].findLast((each) => each.sha === sha);
  get stateOf(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.deployments.values()].map(({ sha, state }) => [sha, state]));
  }

  async #keep<Report>(
    to: ReportAddress,
    all: Map<number, Kept<Report>>,
    report: Report,
    known: number | null,
  ): Promise<number> {
    this.calls++;
    await this.before();
    const id = known !== null && all.has(known) ? known : ++this.#ids;
    all.set(id, { ...report, id, repository: fullNameOf(to) });
    return id;
  }
}
