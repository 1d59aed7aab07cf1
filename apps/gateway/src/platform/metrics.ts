import { currentRelease } from "@towpath/db/release";
import { addReadings, openRegistry, type Reading } from "@towpath/telemetry";
import { AggregatorRegistry, Histogram, type Registry } from "prom-client";
import type { Answer, AnswerEnd } from "../call/answer.ts";

type MakeReading = (name: string, help: string, read: () => number) => Reading;
/** `name`: without the prefix `towpath_gateway_`. */
export const gauge: MakeReading = (name, help, read) => ({
  name: `towpath_gateway_${name}`,
  help,
  kind: "gauge",
  read,
});
/** As `gauge`, and without the suffix `_total`. */
export const counter: MakeReading = (name, help, read) => ({
  name: `towpath_gateway_${name}_total`,
  help,
  kind: "counter",
  read,
});

/** The metrics of one process, as plain data that another one can merge. */
export type MetricsSnapshot = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/**
 * Metrics of this process since its start. Counters of every request are plain numbers until a scrape: the library
 * hashes labels at each step.
 */
export class Metrics {
  /** Requests that wait for a server to start, now. */
  held = 0;
  readonly #registry: Registry = openRegistry({ role: "gateway", release: currentRelease() });
  #requests = 0;
  readonly #responses = new Map<number, number>();
  readonly #exchanges = new Map<AnswerEnd, number>();
  readonly #refusals = new Map<string, number>();
  readonly #duration: Histogram;

  /** `worker`: number of this process among those that share the port. */
  constructor(worker = 0) {
    this.#duration = new Histogram({
      name: "towpath_gateway_request_duration_seconds",
      help: "From a request's head to the end of its answer, streams included",
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers: [this.#registry],
    });
    const byWorker = "Requests by worker: how evenly they are spread";
    const byStatus = "Responses to requests for servers by HTTP status; 0: the client left before there was one";
    const byEnd = "Forwarded requests by how they ended";
    const byCode = "Requests that the gateway itself answered, by reason";
    this.add([
      counter("requests", "Requests", () => this.#requests),
      gauge("held", "Requests that wait for a server to start", () => this.held),
      gauge("workers", "Processes that serve", () => 1),
      countedBy("worker", "worker_requests", byWorker, () => [[worker, this.#requests]]),
      countedBy("status", "responses", byStatus, () => this.#responses),
      countedBy("end", "exchanges", byEnd, () => this.#exchanges),
      countedBy("code", "refusals", byCode, () => this.#refusals),
    ]);
  }

  add(readings: readonly Reading[]): void {
    addReadings(this.#registry, readings);
  }

  requestStarted(): void {
    this.#requests++;
  }

  requestEnded({ status, end }: Pick<Answer, "status" | "end">, durationMs: number): void {
    increment(this.#responses, status);
    if (end !== null) increment(this.#exchanges, end);
    this.#duration.observe(durationMs / 1000);
  }

  requestRefused(code: string): void {
    increment(this.#refusals, code);
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }
}

type Counts = Iterable<readonly [value: string | number, count: number]>;

/** A counter with one label, kept as the counts by the label's value. */
function countedBy(label: string, name: string, help: string, counts: () => Counts): Reading {
  const read = () => Array.from(counts(), ([value, count]) => [{ [label]: value }, count] as const);
  return { ...counter(name, help, () => 0), labels: [label], read };
}

function increment<Label>(counts: Map<Label, number>, label: Label): void {
  counts.set(label, (counts.get(label) ?? 0) + 1);
}

/** All processes' counts added up, in Prometheus' text format (0.0.4). */
export function mergedMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}
