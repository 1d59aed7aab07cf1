import { type AroundCall, RunnerError } from "@towpath/runner-api";
import { poolObstacles, type StartResult } from "@towpath/runtime";
import { addReadings, type Reading } from "@towpath/telemetry";
import { describeSpan, inSpan } from "@towpath/telemetry/trace";
import { Counter, Histogram, type Registry } from "prom-client";
import type { InstanceRecord } from "./instances/instance-record.ts";
import type { LaunchParts } from "./instances/launch.ts";
import type { ServerLogWriter } from "./logs/server-log-writer.ts";
import type { Places } from "./places/places.ts";
import type { PrewarmPool } from "./prewarm/prewarm-pool.ts";

/** `frozen`: it was woken; `pooled`: it began in a pod that waited. */
const startKinds = ["prewarmed", "pooled", "cold", "frozen"] as const;
type StartKind = (typeof startKinds)[number];

const startSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

/** What a runner does for its callers, and how its servers are (OPS-9). */
export class RunnerMetrics {
  readonly #registry: Registry;
  readonly #calls: Counter<"call" | "result">;
  readonly #callDuration: Histogram<"call">;
  readonly #starts: Counter<"kind" | "result">;
  readonly #startDuration: Histogram<"kind">;
  readonly #ended: Counter<"how">;
  readonly #restarts: Counter;
  readonly #poolMisses: Counter<"reason">;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#calls = new Counter({
      name: "towpath_runner_calls_total",
      help: "Calls of the other processes, by result: ok, or the code of the error",
      labelNames: ["call", "result"],
      registers,
    });
    this.#callDuration = new Histogram({
      name: "towpath_runner_call_duration_seconds",
      help: "How long these calls took, waiting for a place and a start included",
      labelNames: ["call"],
      buckets: startSeconds,
      registers,
    });
    this.#starts = new Counter({
      name: "towpath_runner_starts_total",
      help: "Starts of servers by kind and result; frozen: it was woken",
      labelNames: ["kind", "result"],
      registers,
    });
    // From 0 on, so that the first of each is an increase.
    for (const kind of startKinds) for (const result of ["ready", "failed"]) this.#starts.inc({ kind, result }, 0);
    this.#startDuration = new Histogram({
      name: "towpath_runner_start_duration_seconds",
      help: "From having a place until the server answered",
      labelNames: ["kind"],
      buckets: startSeconds,
      registers,
    });
    this.#ended = new Counter({
      name: "towpath_runner_ended_total",
      help: "Servers that have ended; crashed: also those that did not start",
      labelNames: ["how"],
      registers,
    });
    for (const how of ["stopped", "crashed"]) this.#ended.inc({ how }, 0);
    this.#restarts = new Counter({
      name: "towpath_runner_restarts_total",
      help: "Starts after a crash or a failed start, which wait for their back-off",
      registers,
    });
    this.#poolMisses = new Counter({
      name: "towpath_pool_misses_total",
      help: "Starts that no waiting pod was used for, by reason: drained, unsuitable (other limits), failed (lost, or a hand-over that failed)",
      labelNames: ["reason"],
      registers,
    });
    for (const reason of poolObstacles) this.#poolMisses.inc({ reason }, 0);
  }

  readonly aroundCall: AroundCall = async ({ name: call }, run) => {
    const end = this.#callDuration.startTimer({ call });
    try {
      const answer = await run();
      this.#calls.inc({ call, result: "ok" });
      return answer;
    } catch (error) {
      this.#calls.inc({ call, result: error instanceof RunnerError ? error.code : "internal" });
      throw error;
    } finally {
      end();
    }
  };

  /** Counts the starts of `start`, each of which is a span of the trace that it is part of. */
  counted(start: LaunchParts["start"]): LaunchParts["start"] {
    return (server, spec, onOutput) =>
      inSpan("start server", async () => {
        const begun = performance.now();
        try {
          const result = await start(server, spec, onOutput);
          this.#started(result, performance.now() - begun);
          return result;
        } catch (error) {
          this.#starts.inc({ kind: "cold", result: "failed" });
          throw error;
        }
      });
  }

  #started(result: StartResult, ms: number): void {
    const kind = kindOf(result);
    if (result.ok && result.pool !== undefined && result.pool !== "used") this.#poolMisses.inc({ reason: result.pool });
    describeSpan({ "towpath.start.kind": kind, ...(!result.ok && { failure: result.cause }) });
    this.#starts.inc({ kind, result: result.ok ? "ready" : "failed" });
    if (result.ok) this.#startDuration.observe({ kind }, ms / 1000);
  }

  /** Counts what happens to instances, in front of their record. */
  watching(record: InstanceRecord): InstanceRecord {
    return {
      ...record,
      started: (row) => {
        if (row.restarts > 0) this.#restarts.inc();
        record.started(row);
      },
      woken: (id, ms) => {
        this.#starts.inc({ kind: "frozen", result: "ready" });
        this.#startDuration.observe({ kind: "frozen" }, ms / 1000);
        record.woken(id, ms);
      },
      changed: (id, change) => {
        if (change.state === "stopped" || change.state === "crashed") this.#ended.inc({ how: change.state });
        record.changed(id, change);
      },
    };
  }

  read(parts: Parts): void {
    addReadings(this.#registry, readingsOf(parts));
  }
}

function kindOf(result: StartResult): StartKind {
  if (result.ok && result.prewarm === "used") return "prewarmed";
  return result.ok && result.pool === "used" ? "pooled" : "cold";
}

type Parts = {
  readonly places: Places;
  readonly prewarm: Pick<PrewarmPool, "report">;
  readonly lines: Pick<ServerLogWriter, "counters" | "held">;
};

function readingsOf({ places, prewarm, lines }: Parts): Reading[] {
  const by = (label: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([value, count]) => [{ [label]: value }, count] as const);
  const gauge = (name: string, help: string, read: () => number): Reading => ({ name, help, kind: "gauge", read });
  const counter = (name: string, help: string, read: () => number): Reading => ({ name, help, kind: "counter", read });
  return [
    {
      ...gauge("towpath_runner_instances", "Servers by state", () => 0),
      labels: ["state"],
      read: () => by("state", places.phases),
    },
    gauge("towpath_runner_places_used", "Places for servers in use, those of frozen ones included", () => places.used),
    gauge("towpath_runner_places_max", "Places for servers", () => places.budget.maxInstances),
    gauge("towpath_runner_places_waiting", "Starts that wait for a place", () => places.waiting),
    gauge(
      "towpath_runner_memory_bytes",
      "Memory of servers, with the reserve for those that start",
      () => places.memoryBytes,
    ),
    gauge("towpath_runner_memory_max_bytes", "Memory that servers may use", () => places.budget.memoryBytes),
    {
      ...counter("towpath_runner_log_lines_total", "Lines of servers by result", () => 0),
      labels: ["result"],
      read: () => by("result", lines.counters),
    },
    gauge("towpath_runner_log_lines_held", "Lines of servers that wait for the database", () => lines.held),
    gauge("towpath_prewarm_ready", "Interpreters that wait for a server", () => prewarm.report().ready),
    gauge("towpath_prewarm_memory_bytes", "Memory of interpreters that wait", () => prewarm.report().memoryBytes),
    gauge(
      "towpath_prewarm_max_memory_bytes",
      "The most memory that they may use; 0: none",
      () => prewarm.report().maxMemoryBytes,
    ),
    counter("towpath_prewarm_hits_total", "Starts from an interpreter that waited", () => prewarm.report().hits),
    counter(
      "towpath_prewarm_died_total",
      "Interpreters that ended by themselves while they waited",
      () => prewarm.report().died,
    ),
    {
      ...counter("towpath_prewarm_misses_total", "Starts that imported the frameworks as usual, by reason", () => 0),
      labels: ["reason"],
      read: () => by("reason", prewarm.report().misses),
    },
  ];
}
