import type { JobHandlers, WorkerOptions } from "@towpath/queue";
import type { Services } from "../services.ts";
import { runNextBuild } from "./build-run.ts";
import { syncBranchWithGitHub, syncInstallationWithGitHub } from "./github-sync.ts";
import { reportToGitHub } from "./report-branch.ts";
import { processDelivery } from "./webhook-process.ts";

/** What this process does for each kind of job. */
export function jobHandlers(services: Services): JobHandlers {
  return {
    "webhook.process": ({ deliveryId }) => processDelivery(services, deliveryId),
    "branch.sync": (branch) => syncBranchWithGitHub(services, branch),
    "installation.sync": ({ installationId }) => syncInstallationWithGitHub(services, installationId),
    "branch.report": ({ branchId }) => reportToGitHub(services, branchId),
    "mail.send": async ({ mailId }) => void (await services.deliverMail(mailId)),
    "build.run": ({ organizationId }, signal) => runNextBuild(services, organizationId, signal),
  };
}

export type BuildConcurrency = {
  /** Builds that this process runs at a time. */
  readonly maxBuilds: number;
  /** Of these for one organization: one place is left for others, so that no slow neighbor blocks everybody. */
  readonly maxBuildsPerOrganization: number;
};

/** How many jobs of each kind a worker runs at a time, and how many of these for one organization. */
export function jobConcurrency(builds: BuildConcurrency): Pick<WorkerOptions, "concurrency" | "groupConcurrency"> {
  return {
    concurrency: {
      "webhook.process": 2,
      // They wait for GitHub and hold nothing meanwhile.
      "branch.sync": 6,
      "installation.sync": 1,
      // Those of one installation follow each other anyway.
      "branch.report": 3,
      // They wait for the mail server.
      "mail.send": 4,
      "build.run": builds.maxBuilds,
    },
    groupConcurrency: { "branch.sync": 3, "build.run": builds.maxBuildsPerOrganization },
  };
}
