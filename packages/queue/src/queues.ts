import type { JobName } from "@towpath/core/ports";
import type { Queue } from "pg-boss";

/** Schema of pg-boss's tables, beside ours in the same database. */
export const queueSchema = "pgboss";

type QueueOptions = Omit<Queue, "name">;

/**
 * `short`: at most one job of a key waits for its first run, any number run. A worker that dies stops its heartbeat,
 * and after `heartbeatSeconds` another one gets the job; handlers therefore carry a fence.
 */
const every = {
  policy: "short",
  notify: true,
  heartbeatSeconds: 20,
  retryDelay: 2,
  deleteAfterSeconds: 86_400,
} satisfies QueueOptions;

/** GitHub or the database may be away for a while. After the last try the sweep begins anew, for a day. */
const patient = { ...every, retryLimit: 12, retryBackoff: true, retryDelayMax: 60 } satisfies QueueOptions;

export const queues: Readonly<Record<JobName, QueueOptions>> = {
  "webhook.process": { ...patient, expireInSeconds: 120 },
  // A few questions of 30 s each, each possibly asked again.
  "branch.sync": { ...patient, expireInSeconds: 600 },
  "installation.sync": { ...patient, expireInSeconds: 600 },
  // Longer than a build with its rollout may take: the build's own limits end it before.
  "build.run": { ...every, retryLimit: 3, expireInSeconds: 1800 },
};

export const jobNames = Object.keys(queues) as readonly JobName[];
