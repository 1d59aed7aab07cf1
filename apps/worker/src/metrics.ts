import type { BuildTimings } from "@towpath/core/delivery/build/contract";
import type { DatabaseClient } from "@towpath/db";
import { type AroundJob, jobNames, waitingJobs } from "@towpath/queue";
import { addReadings, type Reading } from "@towpath/telemetry";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/**
 * How a worker's attempt at a build ended. `failed`: with a diagnosis; `error`: on our side; `released`: the worker is
 * stopping, and another one builds it; `lost`: another worker has it, or it was canceled.
 */
const buildEnds = ["succeeded", "failed", "error", "released", "lost"] as const;
export type BuildEnd = (typeof buildEnds)[number];
export type EndedBuild = { readonly end: BuildEnd; readonly seconds: number; readonly timings: BuildTimings };

const jobSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];
const buildSeconds = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1200];

/** What a worker does, and what waits for one (OPS-9). No label is `job`, which Prometheus sets itself. */
export class WorkerMetrics {
  readonly #jobs: Counter<"queue" | "result">;
  readonly #running: Gauge<"queue">;
  readonly #jobDuration: Histogram<"queue">;
  readonly #builds: Counter<"result">;
  readonly #buildDuration: Histogram<"result">;
  readonly #phases: Histogram<"phase">;

  constructor(registry: Registry, { db, pool }: Pick<DatabaseClient, "db" | "pool">) {
    const registers = [registry];
    this.#jobs = new Counter({
      name: "towpath_worker_jobs_total",
      help: "Jobs that have ended, by kind and result; failed ones are tried again",
      labelNames: ["queue", "result"],
      registers,
    });
    this.#running = new Gauge({
      name: "towpath_worker_jobs_running",
      help: "Jobs that this worker runs",
      labelNames: ["queue"],
      registers,
    });
    this.#jobDuration = new Histogram({
      name: "towpath_worker_job_duration_seconds",
      help: "How long jobs took",
      labelNames: ["queue"],
      buckets: jobSeconds,
      registers,
    });
    this.#builds = new Counter({
      name: "towpath_worker_builds_total",
      help: "Attempts at builds that have ended, by result",
      labelNames: ["result"],
      registers,
    });
    // From 0 on, so that the first of each is an increase.
    for (const result of buildEnds) this.#builds.inc({ result }, 0);
    this.#buildDuration = new Histogram({
      name: "towpath_worker_build_duration_seconds",
      help: "From taking a build until it was live or had failed",
      labelNames: ["result"],
      buckets: buildSeconds,
      registers,
    });
    this.#phases = new Histogram({
      name: "towpath_worker_build_phase_duration_seconds",
      help: "How long the phases of builds took",
      labelNames: ["phase"],
      buckets: buildSeconds,
      registers,
    });
    addReadings(registry, [...queueReadings(db), ...buildReadings(pool)]);
  }

  readonly aroundJob: AroundJob = async ({ name: queue }, run) => {
    this.#running.inc({ queue });
    const end = this.#jobDuration.startTimer({ queue });
    try {
      await run();
      this.#jobs.inc({ queue, result: "done" });
    } catch (error) {
      this.#jobs.inc({ queue, result: "failed" });
      throw error;
    } finally {
      end();
      this.#running.dec({ queue });
    }
  };

  buildEnded({ end: result, seconds, timings }: EndedBuild): void {
    this.#builds.inc({ result });
    if (result !== "succeeded" && result !== "failed") return;
    this.#buildDuration.observe({ result }, seconds);
    for (const [phase, ms] of Object.entries(timings)) this.#phases.observe({ phase }, ms / 1000);
  }
}

/** Of the whole instance: each worker reports the same. */
function queueReadings(db: DatabaseClient["db"]): Reading[] {
  const of = (value: "count" | "oldestSeconds") => async () => {
    const waiting = new Map((await waitingJobs(db)).map((each) => [each.job, each[value]]));
    return jobNames.map((queue) => [{ queue }, waiting.get(queue) ?? 0] as const);
  };
  const labels = ["queue"];
  const [count, age] = ["Jobs of the instance that wait for a worker", "How long the oldest of them has waited"];
  return [
    { name: "towpath_queue_jobs", help: count, kind: "gauge", labels, read: of("count") },
    { name: "towpath_queue_oldest_job_seconds", help: age, kind: "gauge", labels, read: of("oldestSeconds") },
  ];
}

const buildsByStatus = `SELECT status, count(build.id)::int AS count,
    coalesce(max(extract(epoch FROM now() - created_at)), 0)::float8 AS seconds
  FROM unnest(ARRAY['queued', 'building']) AS status LEFT JOIN build USING (status) GROUP BY status`;

/** As those of the queue. */
function buildReadings(pool: DatabaseClient["pool"]): Reading[] {
  const of = (value: "count" | "seconds") => async () => {
    const { rows } = await pool.query<{ status: string; count: number; seconds: number }>(buildsByStatus);
    return rows.map((row) => [{ status: row.status }, row[value]] as const);
  };
  const labels = ["status"];
  const [count, age] = ["Builds of the instance that wait or run", "Time since the oldest of them was requested"];
  return [
    { name: "towpath_builds", help: count, kind: "gauge", labels, read: of("count") },
    { name: "towpath_builds_oldest_seconds", help: age, kind: "gauge", labels, read: of("seconds") },
  ];
}
