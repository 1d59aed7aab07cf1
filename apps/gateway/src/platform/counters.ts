import type { ForwardEnd } from "../forward/forward.ts";

const durationBoundsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];

/** Numbers of this process since its start. */
export class Counters {
  requests = 0;
  /** Requests that wait for a server to start, now. */
  held = 0;
  readonly statuses = new Map<number, number>();
  readonly ends = new Map<ForwardEnd, number>();
  readonly refusals = new Map<string, number>();
  readonly #durations = new Array<number>(durationBoundsMs.length + 1).fill(0);
  #durationSumMs = 0;
  #durationCount = 0;

  ended(status: number, end: ForwardEnd | null, durationMs: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (end !== null) this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
    const at = durationBoundsMs.findIndex((bound) => durationMs <= bound);
    const bucket = at === -1 ? durationBoundsMs.length : at;
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
    this.#durationSumMs += durationMs;
    this.#durationCount++;
  }

  refused(code: string): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }

  /** Prometheus' text format (0.0.4). `gauges`: further values by metric name. */
  render(gauges: Readonly<Record<string, number>>): string {
    const lines = ["# TYPE towpath_gateway_requests_total counter", `towpath_gateway_requests_total ${this.requests}`];
    const counter = (name: string, label: string, values: ReadonlyMap<string | number, number>) => {
      lines.push(`# TYPE ${name} counter`);
      for (const [value, count] of values) lines.push(`${name}{${label}="${value}"} ${count}`);
    };
    counter("towpath_gateway_responses_total", "status", this.statuses);
    counter("towpath_gateway_exchanges_total", "end", this.ends);
    counter("towpath_gateway_refusals_total", "code", this.refusals);
    lines.push("# TYPE towpath_gateway_duration_ms histogram");
    let cumulative = 0;
    for (const [at, count] of this.#durations.entries()) {
      cumulative += count;
      lines.push(`towpath_gateway_duration_ms_bucket{le="${durationBoundsMs[at] ?? "+Inf"}"} ${cumulative}`);
    }
    lines.push(`towpath_gateway_duration_ms_sum ${this.#durationSumMs.toFixed(3)}`);
    lines.push(`towpath_gateway_duration_ms_count ${this.#durationCount}`);
    for (const [name, value] of Object.entries({ towpath_gateway_held: this.held, ...gauges })) {
      lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }
}
