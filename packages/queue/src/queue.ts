import { type JobName, type JobPayloads, type JobQueue, jobPayloadSchemas } from "@towpath/core/ports";
import { sql } from "drizzle-orm";
import { fromDrizzle, PgBoss } from "pg-boss";
import { jobNames, queueSchema, queues } from "./queues.ts";

export type QueueSettings = {
  readonly databaseUrl: string;
  /** Told of problems that the queue survives: a lost connection, a slow query. */
  readonly onProblem: (problem: unknown) => void;
};

export type OpenJobQueue = JobQueue & { close(): Promise<void> };

/** For processes that only add jobs (web). Creates the queue's tables when this is the first process. */
export async function openJobQueue(settings: QueueSettings): Promise<OpenJobQueue> {
  const boss = await openBoss(settings, { works: false });
  return { ...queueOn(boss), close: () => boss.stop({ graceful: false }) };
}

/** Does one job. A throw gives it back to the queue, which tries again as the queue's settings say. */
export type JobHandlers = {
  readonly [Name in JobName]: (payload: JobPayloads[Name], signal: AbortSignal) => Promise<void>;
};

export type WorkerOptions = {
  readonly handlers: JobHandlers;
  /** How many jobs of each kind this process runs at a time. */
  readonly concurrency: Readonly<Record<JobName, number>>;
  /** How many of these with the same group; as many as of all without it. */
  readonly groupConcurrency?: Readonly<Partial<Record<JobName, number>>>;
};

export type WorkerQueue = {
  readonly queue: JobQueue;
  /** Starts taking jobs. NOTIFY announces new ones at once; polling finds those whose notification was lost. */
  work(options: WorkerOptions): Promise<void>;
  /** Takes no further jobs, aborts the signal of those that run and waits at most `timeoutMs` for them. */
  stop(timeoutMs: number): Promise<void>;
};

/** For processes that run jobs: the queue is open at once, jobs come when `work` is called. */
export async function openWorkerQueue(settings: QueueSettings): Promise<WorkerQueue> {
  const boss = await openBoss(settings, { works: true });
  // pg-boss aborts the signals of running jobs only after its own grace period.
  const stopping = new AbortController();
  async function workOn<Name extends JobName>(name: Name, options: WorkerOptions): Promise<void> {
    const localGroupConcurrency = options.groupConcurrency?.[name];
    const settings = {
      localConcurrency: options.concurrency[name],
      ...(localGroupConcurrency !== undefined && { localGroupConcurrency }),
      // NOTIFY wakes an idle worker at once; after a job it waits this long before it looks for the next one.
      pollingIntervalSeconds: 1,
      notifyPollingIntervalSeconds: 1,
    };
    await boss.work(name, settings, async ([job]) => {
      if (!job) return;
      const payload = jobPayloadSchemas[name].parse(job.data) as JobPayloads[Name];
      await options.handlers[name](payload, AbortSignal.any([stopping.signal, job.signal]));
    });
  }
  return {
    queue: queueOn(boss),
    async work(options) {
      for (const name of jobNames) await workOn(name, options);
    },
    async stop(timeoutMs) {
      stopping.abort(new Error("the worker is stopping"));
      await boss.stop({ graceful: true, timeout: timeoutMs });
    },
  };
}

/** `works`: this process runs jobs and watches the heartbeats of all. */
async function openBoss(settings: QueueSettings, { works }: { readonly works: boolean }): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: settings.databaseUrl,
    schema: queueSchema,
    application_name: "towpath-queue",
    max: works ? 4 : 2,
    schedule: false,
    supervise: works,
    // Both: how soon the job of a worker that died is found, on top of its heartbeat.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    useListenNotify: works,
  });
  boss.on("error", settings.onProblem);
  boss.on("warning", settings.onProblem);
  await boss.start();
  for (const name of jobNames) {
    await boss.createQueue(name, queues[name]);
    // An existing queue keeps the settings of the version that created it.
    const { policy: _, ...changeable } = queues[name];
    if (works) await boss.updateQueue(name, changeable);
  }
  return boss;
}

function queueOn(boss: PgBoss): JobQueue {
  return {
    async enqueue(name, payload, { key, group, transaction }) {
      const connection = transaction && { db: fromDrizzle(transaction, sql) };
      // The policy `short` refuses a second job that waits for its first run, but not one beside a job that waits for
      // another try: while GitHub is away, every sweep would add one.
      const waiting = await boss.findJobs(name, { key, queued: true, ...connection });
      if (waiting.length > 0) return;
      await boss.send(name, payload, { singletonKey: key, ...(group && { group: { id: group } }), ...connection });
    },
  };
}
