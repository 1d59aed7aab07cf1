import type { JobName, JobPayloads, JobQueue } from "@towpath/core/ports";
import { openBoss, type QueueSettings, queueOf } from "./boss.ts";
import { jobNames, payloadSchemas } from "./queues.ts";

/** Does one job. A throw gives it back to the queue, which tries again as the queue's settings say. */
export type JobHandlers = {
  readonly [Name in JobName]: (payload: JobPayloads[Name], signal: AbortSignal) => Promise<void>;
};

export type WorkerSettings = QueueSettings & {
  readonly handlers: JobHandlers;
  /** How many jobs of each kind this process does at a time. */
  readonly concurrency: Readonly<Record<JobName, number>>;
};

export type Workers = {
  readonly queue: JobQueue;
  /** Takes no further job, aborts the signal of those that run and waits at most `timeoutMs` for them. */
  stop(timeoutMs: number): Promise<void>;
};

/** Takes jobs until stopped. New ones come at once by NOTIFY; polling finds those whose notification was lost. */
export async function startWorkers(settings: WorkerSettings): Promise<Workers> {
  const boss = await openBoss(settings, true);
  const stopping = new AbortController();
  for (const name of jobNames) await work(name);
  return {
    queue: queueOf(boss),
    async stop(timeoutMs) {
      stopping.abort(new Error("the worker is stopping"));
      await boss.stop({ graceful: true, timeout: timeoutMs });
    },
  };

  async function work<Name extends JobName>(name: Name): Promise<void> {
    const options = {
      localConcurrency: settings.concurrency[name],
      // NOTIFY wakes an idle worker at once; after a job it waits this long before it looks for the next waiting one.
      pollingIntervalSeconds: 1,
      notifyPollingIntervalSeconds: 1,
    };
    await boss.work(name, options, async ([job]) => {
      if (!job) return;
      const payload = payloadSchemas[name].parse(job.data);
      await settings.handlers[name](payload, AbortSignal.any([stopping.signal, job.signal]));
    });
  }
}
