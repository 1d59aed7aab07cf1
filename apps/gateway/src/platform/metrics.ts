import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ForwardEnd } from "../forward/forward.ts";

/** A value kept elsewhere, read on each scrape. */
export type Reading = {
  /** Without the prefix `towpath_gateway_`. */
  name: string;
  help: string;
  kind: "counter" | "gauge";
  read: () => number;
  /** How the values of several workers become one. Default: their sum. */
  merged?: "sum" | "max";
};

/** The metrics of one process, as plain data that another one can merge. */
export type MetricsSnapshot = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** Metrics of this process since its start. */
export class Metrics {
  /** Requests that wait for a server to start, now. */
  held = 0;
  readonly #registry = new Registry();
  readonly #requests: Counter;
  readonly #requestsOfWorker: Counter<"worker">;
  readonly #worker: { worker: string };
  readonly #responses: Counter<"status">;
  readonly #exchanges: Counter<"end">;
  readonly #refusals: Counter<"code">;
  readonly #durationMs: Histogram;

  /** `worker`: number of this process among those that share the port. */
  constructor(worker = 0) {
    const registers = [this.#registry];
    this.#worker = { worker: String(worker) };
    this.#requests = new Counter({ name: "towpath_gateway_requests_total", help: "Requests", registers });
    this.#requestsOfWorker = new Counter({
      name: "towpath_gateway_worker_requests_total",
      help: "Requests by worker: how evenly they are spread",
      labelNames: ["worker"],
      registers,
    });
    this.#responses = new Counter({
      name: "towpath_gateway_responses_total",
      help: "Responses to requests for servers by HTTP status; 0: the client left before there was one",
      labelNames: ["status"],
      registers,
    });
    this.#exchanges = new Counter({
      name: "towpath_gateway_exchanges_total",
      help: "Forwarded requests by how they ended",
      labelNames: ["end"],
      registers,
    });
    this.#refusals = new Counter({
      name: "towpath_gateway_refusals_total",
      help: "Requests that the gateway itself answered, by reason",
      labelNames: ["code"],
      registers,
    });
    this.#durationMs = new Histogram({
      name: "towpath_gateway_duration_ms",
      help: "Milliseconds from a request's head to the end of its answer, streams included",
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000],
      registers,
    });
    this.add([
      { name: "held", help: "Requests that wait for a server to start", kind: "gauge", read: () => this.held },
      { name: "workers", help: "Processes that serve", kind: "gauge", read: () => 1 },
    ]);
  }

  add(readings: readonly Reading[]): void {
    for (const { name, help, kind, read, merged = "sum" } of readings) {
      const options = { name: `towpath_gateway_${name}`, help, aggregator: merged, registers: [this.#registry] };
      if (kind === "gauge") {
        const gauge: Gauge = new Gauge({ ...options, collect: () => gauge.set(read()) });
        continue;
      }
      const counter: Counter = new Counter({
        ...options,
        collect: () => {
          counter.reset();
          counter.inc(read());
        },
      });
    }
  }

  requestStarted(): void {
    this.#requests.inc();
    this.#requestsOfWorker.inc(this.#worker);
  }

  requestEnded(status: number, end: ForwardEnd | null, durationMs: number): void {
    this.#responses.inc({ status });
    if (end !== null) this.#exchanges.inc({ end });
    this.#durationMs.observe(durationMs);
  }

  requestRefused(code: string): void {
    this.#refusals.inc({ code });
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }
}

/** Prometheus' text format (0.0.4) of what the processes have counted, added up. */
export function mergedMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}
