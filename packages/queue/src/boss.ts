import { newId } from "@towpath/core/ids";
import type { EnqueueOptions, JobName, JobPayloads, JobQueue } from "@towpath/core/ports";
import { sql } from "drizzle-orm";
import { fromDrizzle, PgBoss } from "pg-boss";
import { jobNames, queueSchema, queues } from "./queues.ts";

export type QueueSettings = {
  readonly databaseUrl: string;
  /** Told of problems that the queue survives: a lost connection, a slow query. */
  readonly onProblem: (problem: unknown) => void;
};

/** pg-boss with our schema and queues. `works`: this process takes jobs and watches over the others' heartbeats. */
export async function openBoss(settings: QueueSettings, works: boolean): Promise<PgBoss> {
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
  for (const name of jobNames) await boss.createQueue(name, queues[name]);
  return boss;
}

/** The port of core on top of pg-boss. */
export function queueOf(boss: PgBoss): JobQueue {
  return {
    async enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options: EnqueueOptions = {}) {
      const connection = options.transaction && { db: fromDrizzle(options.transaction, sql) };
      // The policy `short` refuses a second job that waits for its first run, but not one beside a job that waits for
      // another try: while GitHub is away, every sweep would add one.
      if (options.key && (await boss.findJobs(name, { key: options.key, queued: true, ...connection })).length > 0)
        return;
      await boss.send(name, payload, {
        // Of jobs without a key the policy would let one wait in all: each gets a key of its own.
        singletonKey: options.key ?? newId(),
        ...(options.group && { group: { id: options.group } }),
        ...connection,
      });
    },
  };
}
