import { leaveRepository, reportBranch } from "@towpath/core/delivery/report";
import type { JobPayloads } from "@towpath/core/ports";
import { jobContext, type Services } from "../services.ts";
import { GitHubPaused } from "./github-reporter.ts";

/** Pause while another worker reports. */
const busyPauseMs = 2000;

/**
 * Reports a branch to GitHub, or to the host of a Git URL (BLD-8, SRC-2). After a throw (the host is unavailable) the
 * job is retried. While GitHub limits requests, or another worker reports, the branch waits without using up retries.
 */
export async function reportToGitHub(services: Services, branchId: string): Promise<void> {
  const ctx = jobContext(services, "branch.report");
  const { gitHubReporter: reporter, postState } = services;
  const again = (startAfter: Date) =>
    services.queue.enqueue("branch.report", { branchId }, { key: branchId, startAfter });
  try {
    const outcome = await reportBranch({ ctx, input: { branchId, reporter, postState } });
    if (outcome === "busy") await again(new Date(Date.now() + busyPauseMs));
  } catch (error) {
    if (!(error instanceof GitHubPaused)) throw error;
    services.log.info({ branchId, retryAt: error.retryAt }, "report waits for GitHub's rate limit");
    await again(error.retryAt);
  }
}

/** Reports to a repository of GitHub that a server has left it; as `reportToGitHub`. */
export async function leaveGitHub(services: Services, leaving: JobPayloads["repository.leave"]): Promise<void> {
  const input = { leaving, reporter: services.gitHubReporter };
  try {
    await leaveRepository({ ctx: jobContext(services, "repository.leave"), input });
  } catch (error) {
    if (!(error instanceof GitHubPaused)) throw error;
    const { installationId, fullName } = leaving;
    services.log.info({ fullName, retryAt: error.retryAt }, "report waits for GitHub's rate limit");
    const key = `${installationId} ${fullName} ${leaving.name} ${error.retryAt.getTime()}`;
    await services.queue.enqueue("repository.leave", leaving, { key, startAfter: error.retryAt });
  }
}
