import { type JobName, type JobPayloads, type JobQueue, jobPayloadSchemas } from "@towpath/core/ports";
import type { Database } from "@towpath/db";
import { currentTraceparent } from "@towpath/telemetry/trace";
import { sql } from "drizzle-orm";
import { fromDrizzle, PgBoss, type Queue } from "pg-boss";
import { z } from "zod";
import { sparingly } from "./sparingly.ts";

/** Schema of pg-boss's tables. */
const queueSchema = "pgboss";

type QueueOptions = Omit<Queue, "name">;

/**
 * `short`: at most one job of each key waits for its first run, and any number run. When a worker dies, another one
 * gets its job after `heartbeatSeconds`; handlers are therefore fenced.
 */
const defaults = {
  policy: "short",
  notify: true,
  heartbeatSeconds: 20,
  retryDelay: 2,
  deleteAfterSeconds: 86_400,
} satisfies QueueOptions;

/** For jobs that fail while a Git host is unavailable. After the last retry the sweep enqueues them again, for a day. */
const withRetries = { ...defaults, retryLimit: 12, retryBackoff: true, retryDelayMax: 60 } satisfies QueueOptions;

const queues: Readonly<Record<JobName, QueueOptions>> = {
  "webhook.process": { ...withRetries, expireInSeconds: 120 },
  // Several requests to a Git host of up to 30 s, each possibly retried.
  "branch.sync": { ...withRetries, expireInSeconds: 600 },
  // GitHub may be unavailable for hours; the report then has the state at that time.
  "branch.report": {
    ...defaults,
    retryLimit: 60,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 900,
    expireInSeconds: 900,
  },
  "repository.leave": {
    ...defaults,
    retryLimit: 60,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 900,
    expireInSeconds: 900,
  },
  "installation.sync": { ...withRetries, expireInSeconds: 600 },
  // Its results are stored, and failed checks are repeated when they are due.
  "source.check": { ...defaults, retryLimit: 2, expireInSeconds: 120 },
  // A replay has two minutes at most, and its claim is taken over after a worker's end.
  "calls.replay": { ...defaults, retryLimit: 10, retryDelay: 5, expireInSeconds: 300 },
  // Longer than a build and its rollout may take; their own limits end them earlier.
  "build.run": { ...defaults, retryLimit: 3, expireInSeconds: 1800 },
  // A mail server may be down for hours: pauses grow to a quarter of an hour, for about six hours.
  "mail.send": {
    ...defaults,
    retryLimit: 60,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 900,
    expireInSeconds: 120,
  },
};

export const jobNames = Object.keys(queues) as readonly JobName[];

/** Schedules of jobs that run on one worker of the cluster (cron, UTC), and their time limits. */
const schedules = {
  /** Look for new versions of packages that projects follow. */
  "package.follow": { cron: "17 * * * *", expireInSeconds: 3600 },
  /** Ask GitHub which webhooks it could not deliver. */
  "webhook.redeliver": { cron: "*/10 * * * *", expireInSeconds: 1800 },
  /** Index finished days of the request log; minutes for each, and the first run has many days. */
  "log.index": { cron: "5-59/10 * * * *", expireInSeconds: 43_200 },
  /** Count what callers got of servers on status pages; the first time a month of days. */
  "status.count": { cron: "*/5 * * * *", expireInSeconds: 3600 },
  /** Make a back-up if the worker's settings ask for one and it is due. */
  "backup.make": { cron: "*/15 * * * *", expireInSeconds: 21_600 },
  /** Look for slow calls and sign-in loops, for alerts. */
  "alert.watch": { cron: "* * * * *", expireInSeconds: 600 },
  /** Pack repositories of this instance, and remove orphaned ones. */
  "repository.sweep": { cron: "47 * * * *", expireInSeconds: 3600 },
} as const;

type ScheduledJob = keyof typeof schedules;
/** Each runs one job and stops early when the signal is aborted. */
export type ScheduledHandlers = { readonly [Name in ScheduledJob]: (signal: AbortSignal) => Promise<void> };
const scheduledJobs = Object.keys(schedules) as readonly ScheduledJob[];

type QueueSettings = {
  readonly databaseUrl: string;
  /** Called for problems that the queue recovers from: a lost connection, a slow query. */
  readonly onProblem: (problem: unknown) => void;
};

export type OpenJobQueue = JobQueue & { close(): Promise<void> };

/** For processes that only add jobs (web). The first process creates the queue's tables. */
export async function openJobQueue(settings: QueueSettings): Promise<OpenJobQueue> {
  const boss = await openBoss(settings, { works: false });
  return { ...queueOn(boss), close: () => boss.stop({ graceful: false }) };
}

/** Each runs one job. If it throws, the queue retries the job according to its settings. */
export type JobHandlers = {
  readonly [Name in JobName]: (payload: JobPayloads[Name], signal: AbortSignal) => Promise<void>;
};

/** Runs the handler of a job. `traceparent`: the span that enqueued it; null without one. */
export type AroundJob = (
  job: { readonly name: JobName; readonly traceparent: string | null },
  run: () => Promise<void>,
) => Promise<void>;

export type WorkerOptions = {
  readonly handlers: JobHandlers;
  readonly around?: AroundJob;
  /** How many jobs of each kind this process runs at a time. */
  readonly concurrency: Readonly<Record<JobName, number>>;
  /** How many of these may have the same group. Default: no limit. */
  readonly groupConcurrency?: Readonly<Partial<Record<JobName, number>>>;
};

export type WorkerQueue = {
  readonly queue: JobQueue;
  /** Starts taking jobs. NOTIFY announces new ones; polling finds those whose notification was lost. */
  work(options: WorkerOptions): Promise<void>;
  /** Runs each of these jobs now and at its times, unless a worker is running it. */
  schedule(handlers: ScheduledHandlers): Promise<void>;
  /** Takes no more jobs, aborts the signals of those that run for longer than `jobsMs` and then waits at most `timeoutMs`. */
  stop(timeoutMs: number, jobsMs?: number): Promise<void>;
};

/** For processes that run jobs. Takes none before `work` is called. */
export async function openWorkerQueue(settings: QueueSettings): Promise<WorkerQueue> {
  const boss = await openBoss(settings, { works: true });
  // pg-boss itself aborts the signals of running jobs only after its grace period.
  const stopping = new AbortController();
  async function workOn<Name extends JobName>(name: Name, options: WorkerOptions): Promise<void> {
    const localGroupConcurrency = options.groupConcurrency?.[name];
    const settings = {
      localConcurrency: options.concurrency[name],
      ...(localGroupConcurrency !== undefined && { localGroupConcurrency }),
      // NOTIFY wakes an idle worker at once. After a job the worker polls for the next one.
      pollingIntervalSeconds: 1,
      notifyPollingIntervalSeconds: 1,
    };
    await boss.work(name, { ...settings, includeMetadata: true }, async ([job]) => {
      if (!job) return;
      await awaitEnqueuers(boss, name, job.singletonKey);
      const payload = jobPayloadSchemas[name].parse(job.data) as JobPayloads[Name];
      const run = () => options.handlers[name](payload, AbortSignal.any([stopping.signal, job.signal]));
      await (options.around?.({ name, traceparent: tracedSchema.parse(job.data).traceparent }, run) ?? run());
    });
  }
  return {
    queue: queueOn(boss),
    async work(options) {
      for (const name of jobNames) await workOn(name, options);
    },
    async schedule(handlers) {
      for (const name of scheduledJobs) {
        const { cron, ...options } = schedules[name];
        await createQueue(boss, name, { ...defaults, ...options, policy: "exclusive" });
        await boss.schedule(name, cron);
        await boss.work(name, { pollingIntervalSeconds: 5 }, ([job]) =>
          handlers[name](AbortSignal.any([stopping.signal, ...(job ? [job.signal] : [])])),
        );
        // Jobs that became due while no worker ran.
        await boss.send(name);
      }
    },
    async stop(timeoutMs, jobsMs = 0) {
      const abort = () => stopping.abort(new Error("the worker is stopping"));
      const late = jobsMs === 0 ? abort() : setTimeout(abort, jobsMs);
      await boss.stop({ graceful: true, timeout: jobsMs + timeoutMs });
      if (late) clearTimeout(late);
    },
  };
}

/** Of pg-boss's pool, though its types lack them: the machine of a database that fails over may be lost. */
const lostMachine = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, query_timeout: 60_000 };

/** `works`: this process runs jobs, and monitors the heartbeats of all workers. */
async function openBoss(settings: QueueSettings, { works }: { readonly works: boolean }): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: settings.databaseUrl,
    schema: queueSchema,
    application_name: "towpath-queue",
    max: works ? 4 : 2,
    ...lostMachine,
    schedule: works,
    supervise: works,
    // Both delay finding a dead worker's job, in addition to its heartbeat.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    useListenNotify: works,
  });
  const onProblem = sparingly(settings.onProblem);
  boss.on("error", onProblem);
  boss.on("warning", onProblem);
  await boss.start();
  for (const name of jobNames) await createQueue(boss, name, queues[name], { updates: works });
  return boss;
}

/** `updates`: otherwise an existing queue keeps the settings of the version that created it. */
async function createQueue(boss: PgBoss, name: string, options: QueueOptions, { updates = true } = {}): Promise<void> {
  await boss.createQueue(name, options);
  const { policy: _, ...changeable } = options;
  if (updates) await boss.updateQueue(name, changeable);
}

/** Beside a job's payload: the span that enqueued it (W3C Trace Context). */
const tracedSchema = z.object({ traceparent: z.string().nullable().catch(null).default(null) });

/** Jobs of a queue that are due and that no worker has taken. */
export type WaitingJobs = { readonly job: string; readonly count: number; readonly oldestSeconds: number };

/** Only queues in which jobs wait. */
export async function waitingJobs(db: Database): Promise<readonly WaitingJobs[]> {
  const { rows } = await db.execute<WaitingJobs>(sql`
    SELECT name AS job, count(*)::int AS count, extract(epoch FROM now() - min(start_after))::float8 AS "oldestSeconds"
    FROM ${sql.raw(queueSchema)}.job WHERE state < 'active' AND NOT blocked AND start_after <= now() GROUP BY name`);
  return rows;
}

const lockSpace = "towpath_job";

/**
 * Waits for the transactions that found this job waiting and therefore added none: the handler sees their writes only
 * after they have ended. Throws after 10 s, and the queue retries the job.
 */
async function awaitEnqueuers(boss: PgBoss, name: JobName, key: string | null): Promise<void> {
  await boss
    .getDb()
    .executeSql("SELECT set_config('lock_timeout', '10s', true), pg_advisory_xact_lock(hashtext($1), hashtext($2))", [
      lockSpace,
      `${name} ${key}`,
    ]);
}

function queueOn(boss: PgBoss): JobQueue {
  return {
    async enqueue(name, payload, { key, group, transaction, startAfter }) {
      // Held until the transaction ends: `awaitEnqueuers`.
      await transaction?.execute(
        sql`SELECT pg_advisory_xact_lock_shared(hashtext(${lockSpace}), hashtext(${`${name} ${key}`}))`,
      );
      const connection = transaction && { db: fromDrizzle(transaction, sql) };
      // The policy `short` rejects a second job that waits for its first run, but not one beside a job that waits for a
      // retry: while GitHub is unavailable, every sweep would add one.
      const waiting = await boss.findJobs(name, { key, queued: true, ...connection });
      if (waiting.length > 0) return;
      const traceparent = currentTraceparent();
      await boss.send(name, traceparent === null ? payload : { ...payload, traceparent }, {
        singletonKey: key,
        ...(group && { group: { id: group } }),
        ...(startAfter && { startAfter }),
        ...connection,
      });
    },
  };
}
