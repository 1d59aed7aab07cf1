import type { CheckReport, DeploymentReport, GitHubReporter, ReportAddress } from "@towpath/core/delivery/report";
import { type CommitStatus, type GitHub, isGitHubError, type NewDeployment, type ReportCalls } from "@towpath/github";
import type { Logger } from "pino";

type Client = ReportCalls & Pick<GitHub, "installation">;

/** The App's permissions change when an account's owner accepts more. */
const permissionsLastMs = 300_000;
/** GitHub takes 140 characters. */
const maxDescription = 140;

/** GitHub limits requests of this installation: nothing is sent for it until `retryAt`. */
export class GitHubPaused extends Error {
  override readonly name = "GitHubPaused";
  readonly retryAt: Date;

  constructor(retryAt: Date) {
    super(`GitHub limits requests until ${retryAt.toISOString()}`);
    this.retryAt = retryAt;
  }
}

/** Permanent: a retry would be refused again. */
const refusals: readonly string[] = ["forbidden", "not_found", "invalid", "not_configured"];
/** When GitHub names no time, as it recommends. */
const pauseMs = 60_000;

/**
 * Reports builds to GitHub through the App, within its permissions: without *Checks* as a commit status. Requests for
 * one installation are sequential, and pause while GitHub limits them (GitHub docs, "Best practices for using the REST
 * API"). Throws `GitHubPaused`, and `GitHubError` when GitHub is unavailable.
 */
export function createGitHubReporter(github: Client, log: Logger): GitHubReporter {
  const permissions = createPermissions(github);
  const inTurn = createTurns();
  const paused = new Map<number, Date>();

  /** Resolves to `known` if GitHub refuses permanently. */
  async function send<Known>(
    to: ReportAddress,
    known: Known,
    send: (granted: Readonly<Record<string, string>>) => Promise<Known>,
  ): Promise<Known> {
    return inTurn(to.installationId, async () => {
      const until = paused.get(to.installationId);
      if (until && until.getTime() > Date.now()) throw new GitHubPaused(until);
      try {
        return await send(await permissions(to.installationId));
      } catch (error) {
        if (isGitHubError(error, "rate_limited")) {
          const retryAt = error.retryAfter ?? new Date(Date.now() + pauseMs);
          paused.set(to.installationId, retryAt);
          throw new GitHubPaused(retryAt);
        }
        if (!isGitHubError(error) || !refusals.includes(error.code)) throw error;
        log.info({ err: error, repository: `${to.owner}/${to.name}` }, "GitHub doesn't take a report");
        return known;
      }
    });
  }

  return {
    check: (to, report, known) =>
      send(to, known, async (granted) => {
        if (granted.checks === "write") return reportCheck(github, to, report, known);
        if (granted.statuses === "write") await github.setCommitStatus(to, report.sha, statusOf(report));
        return null;
      }),
    deployment: (to, report, known) =>
      send(to, known, async (granted) =>
        granted.deployments === "write" ? reportDeployment(github, to, report, known) : null,
      ),
    endDeployment: (to, id, ended) =>
      send(to, undefined, async (granted) => {
        if (granted.deployments !== "write") return;
        await unlessGone(() =>
          github.setDeploymentStatus(to, id, { ...ended, state: "inactive", environmentUrl: null }),
        );
      }),
    comment: (to, { number, body, mark }, known) =>
      send(to, known, async (granted) => {
        if (granted.pull_requests !== "write") return null;
        const id = known ?? (await github.commentWith(to, number, mark));
        const updated = id !== null && (await unlessGone(() => github.updateComment(to, id, body)));
        return updated ? id : github.createComment(to, number, body);
      }),
  };
}

async function reportCheck(github: Client, to: ReportAddress, report: CheckReport, known: number | null) {
  const id = known ?? (await github.checkRunOf(to, report.sha, report));
  const updated = id !== null && (await unlessGone(() => github.updateCheckRun(to, id, report)));
  return updated ? id : github.createCheckRun(to, report.sha, report);
}

async function reportDeployment(github: Client, to: ReportAddress, report: DeploymentReport, known: number | null) {
  const deployment: NewDeployment = report;
  const set = (id: number) => github.setDeploymentStatus(to, id, report);
  const id = known ?? (await github.deploymentOf(to, deployment));
  if (id !== null && (await unlessGone(() => set(id)))) return id;
  const created = await github.createDeployment(to, deployment);
  await set(created);
  return created;
}

/** False when somebody has deleted it at GitHub. */
async function unlessGone(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isGitHubError(error, "not_found")) return false;
    throw error;
  }
}

const states = { queued: "pending", in_progress: "pending" } as const;
const conclusions = {
  success: "success",
  neutral: "success",
  skipped: "success",
  failure: "failure",
  cancelled: "error",
  action_required: "pending",
} as const;

function statusOf({ status, conclusion, name, title, detailsUrl }: CheckReport): CommitStatus {
  const description = title.length <= maxDescription ? title : `${title.slice(0, maxDescription - 1).trimEnd()}…`;
  const state = status === "completed" ? conclusions[conclusion ?? "neutral"] : states[status];
  return { state, context: name, description, targetUrl: detailsUrl };
}

/** Permissions of each installation, cached for a few minutes. */
function createPermissions(github: Client) {
  const known = new Map<number, { readonly granted: Readonly<Record<string, string>>; readonly until: number }>();
  return async (installationId: number): Promise<Readonly<Record<string, string>>> => {
    const cached = known.get(installationId);
    if (cached && cached.until > Date.now()) return cached.granted;
    const { permissions: granted } = await github.installation(installationId);
    known.set(installationId, { granted, until: Date.now() + permissionsLastMs });
    return granted;
  };
}

/** Runs the work of each installation one after the other. */
function createTurns() {
  const last = new Map<number, Promise<unknown>>();
  return async <Result>(installationId: number, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(installationId) ?? Promise.resolve();
    const own = before.then(work, work);
    const settled = own.catch(() => {});
    last.set(installationId, settled);
    try {
      return await own;
    } finally {
      if (last.get(installationId) === settled) last.delete(installationId);
    }
  };
}
