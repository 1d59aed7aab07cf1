import { currentRelease } from "@towpath/db/release";
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Answer, AnswerEnd } from "../call/answer.ts";

/** A value kept elsewhere, read on each scrape. */
export type Reading = {
  /** Without the prefix `towpath_gateway_`. */
  name: string;
  help: string;
  kind: "counter" | "gauge";
  read: () => number;
  /** How the values of several workers are combined. Default: their sum. */
  merged?: "sum" | "max";
};

type MakeReading = (name: string, help: string, read: () => number) => Reading;
export const gauge: MakeReading = (name, help, read) => ({ name, help, kind: "gauge", read });
export const counter: MakeReading = (name, help, read) => ({ name, help, kind: "counter", read });

/** A counter with one label. `name` as in `Reading`. */
type Labelled = { name: string; help: string; label: string };

/** The metrics of one process, as plain data that another one can merge. */
export type MetricsSnapshot = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/**
 * Metrics of this process since its start. Counters of every request are plain numbers until a scrape: the library
 * hashes labels at each step.
 */
export class Metrics {
  /** Requests that wait for a server to start, now. */
  held = 0;
  readonly #registry = new Registry();
  #requests = 0;
  readonly #responses: Map<number, number>;
  readonly #exchanges: Map<AnswerEnd, number>;
  readonly #refusals: Map<string, number>;
  readonly #durationMs: Histogram;

  /** `worker`: number of this process among those that share the port. */
  constructor(worker = 0) {
    const byWorker = "Requests by worker: how evenly they are spread";
    this.#addLabelled({ name: "worker_requests_total", label: "worker", help: byWorker }, () => [
      [worker, this.#requests],
    ]);
    const byStatus = "Responses to requests for servers by HTTP status; 0: the client left before there was one";
    this.#responses = this.#countBy({ name: "responses_total", label: "status", help: byStatus });
    const byEnd = "Forwarded requests by how they ended";
    this.#exchanges = this.#countBy({ name: "exchanges_total", label: "end", help: byEnd });
    const byCode = "Requests that the gateway itself answered, by reason";
    this.#refusals = this.#countBy({ name: "refusals_total", label: "code", help: byCode });
    this.#durationMs = new Histogram({
      name: "towpath_gateway_duration_ms",
      help: "Milliseconds from a request's head to the end of its answer, streams included",
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000],
      registers: [this.#registry],
    });
    const { version, commit, schema } = currentRelease();
    new Gauge({
      name: "towpath_build_info",
      help: "Always 1; the labels name the release",
      labelNames: ["version", "commit", "schema"],
      aggregator: "max",
      registers: [this.#registry],
    }).set({ version, commit: commit ?? "", schema: schema ?? "" }, 1);
    this.add([
      counter("requests_total", "Requests", () => this.#requests),
      gauge("held", "Requests that wait for a server to start", () => this.held),
      gauge("workers", "Processes that serve", () => 1),
    ]);
  }

  add(readings: readonly Reading[]): void {
    for (const { name, help, kind, read, merged = "sum" } of readings) {
      const options = { name: `towpath_gateway_${name}`, help, aggregator: merged, registers: [this.#registry] };
      if (kind === "gauge") {
        const metric: Gauge = new Gauge({ ...options, collect: () => metric.set(read()) });
        continue;
      }
      const metric: Counter = new Counter({
        ...options,
        collect: () => {
          metric.reset();
          metric.inc(read());
        },
      });
    }
  }

  /** A counter with one label, as the counts by the label's value. */
  #countBy<Label extends string | number>(labelled: Labelled): Map<Label, number> {
    const counts = new Map<Label, number>();
    this.#addLabelled(labelled, () => counts);
    return counts;
  }

  #addLabelled({ name, help, label }: Labelled, read: () => Iterable<readonly [string | number, number]>): void {
    const metric: Counter = new Counter({
      name: `towpath_gateway_${name}`,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect: () => {
        metric.reset();
        for (const [value, count] of read()) metric.inc({ [label]: value }, count);
      },
    });
  }

  requestStarted(): void {
    this.#requests++;
  }

  requestEnded({ status, end }: Pick<Answer, "status" | "end">, durationMs: number): void {
    increment(this.#responses, status);
    if (end !== null) increment(this.#exchanges, end);
    this.#durationMs.observe(durationMs);
  }

  requestRefused(code: string): void {
    increment(this.#refusals, code);
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }
}

function increment<Label>(counts: Map<Label, number>, label: Label): void {
  counts.set(label, (counts.get(label) ?? 0) + 1);
}

/** All processes' counts added up, in Prometheus' text format (0.0.4). `more` is appended unchanged. */
export async function mergedMetrics(snapshots: readonly MetricsSnapshot[], more: string): Promise<string> {
  const own = await AggregatorRegistry.aggregate([...snapshots]).metrics();
  return `${own.trimEnd()}\n${more}`;
}
