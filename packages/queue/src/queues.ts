import type { JobName, JobPayloads } from "@towpath/core/ports";
import type { Queue } from "pg-boss";
import { z } from "zod";

/** Schema of pg-boss's tables, beside ours in the same database. */
export const queueSchema = "pgboss";

/**
 * How each queue behaves. `short`: one waiting job for each key, any number running. A worker that dies stops its
 * heartbeat, and after `heartbeatSeconds` the job goes to another one; handlers therefore carry a fence.
 */
export const queues: Record<JobName, Omit<Queue, "name">> = {
  "webhook.process": {
    policy: "short",
    notify: true,
    heartbeatSeconds: 20,
    expireInSeconds: 120,
    // GitHub may be away for a while: about an hour of patience, then the delivery stays for the operator.
    retryLimit: 12,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 600,
    deleteAfterSeconds: 86_400,
  },
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
  "build.run": z.object({ buildId: z.uuid() }),
};
