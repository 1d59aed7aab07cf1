import type { JobName, JobPayloads, JobQueue } from "@towpath/core/ports";
import { openBoss, type QueueSettings, queueOf } from "./boss.ts";
import { jobNames, payloadSchemas } from "./queues.ts";

/** Does one job. A throw gives it back to the queue, which tries again as the queue's settings say. */
export type JobHandlers = {
  readonly [Name in JobName]: (payload: JobPayloads[Name], signal: AbortSignal) => Promise<void>;
};

export type WorkerOptions = {
  readonly handlers: JobHandlers;
  /** How many jobs of each kind this process does at a time. */
  readonly concurrency: Readonly<Record<JobName, number>>;
  /** How many of these with the same group; as many as of all without it. */
  readonly concurrencyOfGroup?: Readonly<Partial<Record<JobName, number>>>;
};

export type WorkerQueue = {
  readonly queue: JobQueue;
  /** Begins to take jobs. New ones come at once by NOTIFY; polling finds those whose notification was lost. */
  work(options: WorkerOptions): Promise<void>;
  /** Takes no further job, aborts the signal of those that run and waits at most `timeoutMs` for them. */
  stop(timeoutMs: number): Promise<void>;
};

/** For processes that take jobs: the queue is open at once, jobs come when `work` is called. */
export async function openWorkerQueue(settings: QueueSettings): Promise<WorkerQueue> {
  const boss = await openBoss(settings, true);
  const stopping = new AbortController();
  async function workOn<Name extends JobName>(name: Name, worker: WorkerOptions): Promise<void> {
    const { handlers, concurrency, concurrencyOfGroup } = worker;
    const ofGroup = concurrencyOfGroup?.[name];
    const options = {
      localConcurrency: concurrency[name],
      ...(ofGroup !== undefined && { localGroupConcurrency: ofGroup }),
      // NOTIFY wakes an idle worker at once; after a job it waits this long before it looks for the next waiting one.
      pollingIntervalSeconds: 1,
      notifyPollingIntervalSeconds: 1,
    };
    await boss.work(name, options, async ([job]) => {
      if (!job) return;
      const payload = payloadSchemas[name].parse(job.data);
      await handlers[name](payload, AbortSignal.any([stopping.signal, job.signal]));
    });
  }
  return {
    queue: queueOf(boss),
    async work(options) {
      for (const name of jobNames) await workOn(name, options);
    },
    async stop(timeoutMs) {
      stopping.abort(new Error("the worker is stopping"));
      await boss.stop({ graceful: true, timeout: timeoutMs });
    },
  };
}
