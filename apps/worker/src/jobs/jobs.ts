import type { AroundJob, JobHandlers, WorkerOptions } from "@towpath/queue";
import { startTrace } from "@towpath/telemetry/trace";
import type { Services } from "../services.ts";
import { runNextBuild } from "./build-run.ts";
import { checkGitSource } from "./check-source.ts";
import { syncBranchWithHost, syncInstallationWithGitHub } from "./github-sync.ts";
import { replaySampledCalls } from "./replay-calls.ts";
import { leaveGitHub, reportToGitHub } from "./report-branch.ts";
import { processDelivery } from "./webhook-process.ts";

/** The handler of each kind of job. */
export function jobHandlers(services: Services): JobHandlers {
  return {
    "webhook.process": ({ deliveryId }) => processDelivery(services, deliveryId),
    "branch.sync": (branch) => syncBranchWithHost(services, branch),
    "installation.sync": ({ installationId }) => syncInstallationWithGitHub(services, installationId),
    "source.check": ({ projectId }) => checkGitSource(services, projectId),
    "branch.report": ({ branchId }) => reportToGitHub(services, branchId),
    "repository.leave": (leaving) => leaveGitHub(services, leaving),
    "mail.send": async ({ mailId }) => void (await services.deliverMail(mailId)),
    "calls.replay": ({ replayId }, signal) => replaySampledCalls(services, replayId, signal),
    "build.run": ({ organizationId }, signal) => runNextBuild(services, organizationId, signal),
  };
}

/**
 * Runs a job as a part of the trace that enqueued it. An organization's turn (`build.run`) isn't one: the build that it
 * takes has a trace of its own.
 */
export const tracedJob =
  ({ spans }: Pick<Services, "spans">): AroundJob =>
  ({ name, traceparent }, run) =>
    traceparent === null || name === "build.run"
      ? run()
      : startTrace(spans, { name: `job ${name}`, kind: "consumer", traceparent }, run);

export type BuildConcurrency = {
  /** Builds that this process runs at a time. */
  readonly maxBuilds: number;
  /** Builds for one organization: fewer than all, so that a slow neighbor doesn't block everybody. */
  readonly maxBuildsPerOrganization: number;
};

/** How many jobs of each kind a worker runs at a time, in total and for one organization. */
export function jobConcurrency(builds: BuildConcurrency): Pick<WorkerOptions, "concurrency" | "groupConcurrency"> {
  return {
    concurrency: {
      "webhook.process": 2,
      // They mostly wait for the Git host and hold no resources.
      "branch.sync": 6,
      "installation.sync": 1,
      "source.check": 4,
      // Reports of one installation are sequential anyway.
      "branch.report": 3,
      "repository.leave": 1,
      // They wait for the mail server.
      "mail.send": 4,
      // They wait for servers and a model, for two minutes at most.
      "calls.replay": 3,
      "build.run": builds.maxBuilds,
    },
    groupConcurrency: { "branch.sync": 3, "calls.replay": 1, "build.run": builds.maxBuildsPerOrganization },
  };
}
