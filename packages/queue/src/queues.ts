import type { JobName, JobPayloads } from "@towpath/core/ports";
import type { Queue } from "pg-boss";
import { z } from "zod";

/** Schema of pg-boss's tables, beside ours in the same database. */
export const queueSchema = "pgboss";

const asksGitHub = {
  policy: "short",
  notify: true,
  heartbeatSeconds: 20,
  // A few questions of 30 s each, each possibly asked anew.
  expireInSeconds: 600,
  // GitHub may be away for a while. What came meanwhile waits with the job that is tried again, so not for long; after
  // the last try the sweep begins anew, for a day.
  retryLimit: 12,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 60,
  deleteAfterSeconds: 86_400,
} satisfies Omit<Queue, "name">;

/**
 * How each queue behaves. `short`: one waiting job for each key (see `queueOf`), any number running. A worker that dies stops its
 * heartbeat, and after `heartbeatSeconds` the job goes to another one; handlers therefore carry a fence.
 */
export const queues: Record<JobName, Omit<Queue, "name">> = {
  "webhook.process": {
    policy: "short",
    notify: true,
    heartbeatSeconds: 20,
    expireInSeconds: 120,
    retryLimit: 12,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 60,
    deleteAfterSeconds: 86_400,
  },
  "branch.sync": asksGitHub,
  "installation.sync": asksGitHub,
  "build.run": {
    policy: "short",
    notify: true,
    heartbeatSeconds: 20,
    // Longer than a build with its rollout may take: the build's own limits end it before.
    expireInSeconds: 1800,
    retryLimit: 3,
    retryDelay: 2,
    deleteAfterSeconds: 86_400,
  },
};

export const jobNames = Object.keys(queues) as readonly JobName[];

/** What is read back from the queue's JSON column. */
export const payloadSchemas: { [Name in JobName]: z.ZodType<JobPayloads[Name]> } = {
  "webhook.process": z.object({ deliveryId: z.string() }),
  "branch.sync": z.object({ projectId: z.uuid(), branch: z.string() }),
  "installation.sync": z.object({ installationId: z.number().int() }),
  "build.run": z.object({ organizationId: z.uuid() }),
};
