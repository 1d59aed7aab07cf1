import type { PrewarmReport, RunnerClient } from "@towpath/runner-api";
import { Counter, Gauge, Registry } from "prom-client";

const withinMs = 1000;

/** The runner's metrics of its prewarmed interpreters in Prometheus' text format; empty while it does not answer. */
export function createRunnerMetrics(runner: Pick<RunnerClient, "prewarm">): () => Promise<string> {
  return async () => {
    try {
      return await metricsOf(await runner.prewarm({ signal: AbortSignal.timeout(withinMs) }));
    } catch {
      return "";
    }
  };
}

async function metricsOf(report: PrewarmReport): Promise<string> {
  const registry = new Registry();
  const options = (name: string, help: string) => ({ name: `towpath_prewarm_${name}`, help, registers: [registry] });
  new Gauge(options("ready", "Interpreters that wait for a server")).set(report.ready);
  new Gauge(options("memory_bytes", "Memory of interpreters that wait")).set(report.memoryBytes);
  new Gauge(options("max_memory_bytes", "The most memory that they may use; 0: none")).set(report.maxMemoryBytes);
  new Counter(options("hits_total", "Starts from an interpreter that waited")).inc(report.hits);
  new Counter(options("died_total", "Interpreters that ended by themselves while they waited")).inc(report.died);
  const misses = new Counter({
    ...options("misses_total", "Starts that imported the frameworks as usual, by reason"),
    labelNames: ["reason"],
  });
  for (const [reason, count] of Object.entries(report.misses)) misses.inc({ reason }, count);
  return await registry.metrics();
}
